package provider

import (
	"slices"
	"testing"
)

func TestJobsAreHandedOverByTheirContentButNotImportedOnes(t *testing.T) {
	t.Parallel()
	var h handover
	for _, text := range []string{"| se_1 imported", "| se_2", "se_3", "se_4 | se_5 as 2"} {
		deleted := state(text)
		h.add(&deleted)
	}
	for revision, want := range map[string][]string{"": nil, "2": {"se_2", "se_5"}, "3": nil} {
		var got []string
		for job := range h.take(content(revision)) {
			if got = append(got, job.ID); len(got) > 2 {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("the jobs of the content %q are %v, want %v", revision, got, want)
		}
	}
}
