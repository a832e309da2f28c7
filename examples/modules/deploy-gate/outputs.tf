output "status_id" {
  description = "Status id of the update. What uses it waits for the gate."
  value       = docs_update_gate.published.status_id
}

output "ended_at" {
  description = "When the update ended, as the service writes it; null where it does not say."
  value       = docs_update_gate.published.ended_at
}

output "summary" {
  description = "The service's summary of the update; null where it does not say."
  value       = docs_update_gate.published.summary
}
