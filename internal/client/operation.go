package client

import "time"

const (
	// NotFoundLimit is how long a service may return "not found" before the caller believes it. A service can be
	// eventually consistent: a job can be unknown right after its start, its bundle right after its completion, and
	// its archive right after that. Giving up too early would cost an export.
	NotFoundLimit = 30 * time.Second

	// DisturbanceLimit is how long any other failure may last that may pass by itself.
	DisturbanceLimit = 30 * time.Second
	// OutageLimit replaces it during an outage, once the service has answered a call of the [Operation].
	OutageLimit = 5 * time.Minute
)

// limits are how long a streak of failures may last, by their kind, from the end of its first attempt to the sending
// of its last one. The longest limit of the kinds in a streak applies to all of it, but a kind without a limit ends
// it. A [throttled] attempt has no limit: its time does not count.
type limits [kindCount]time.Duration

var (
	// startLimits are for the start of an export, which is sent again only if the service certainly did not act on it.
	startLimits = limits{unconnected: DisturbanceLimit}
	// firstLimits are for an operation that the service has not answered yet, so that a wrong URL or key fails soon.
	firstLimits = limits{unconnected: DisturbanceLimit, temporary: DisturbanceLimit, notFound: NotFoundLimit}
	// laterLimits are for an operation that it has answered, whose failure may cost an hour of work.
	laterLimits = limits{
		unconnected: OutageLimit, temporary: OutageLimit, notFound: NotFoundLimit,
		refused: DisturbanceLimit, linkRefused: DisturbanceLimit,
	}
)

// Operation is a sequence of calls for one purpose, such as one apply of one resource. Once the service has answered
// one of them, its URL and its key are known to be right, and the later ones bear a longer outage. An Operation is not
// safe for concurrent use.
type Operation struct {
	*Client
	within limits // firstLimits, or laterLimits after the first answer
}

// Begin begins an operation.
func (c *Client) Begin() *Operation { return &Operation{c, firstLimits} }
