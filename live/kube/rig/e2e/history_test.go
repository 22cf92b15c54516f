package e2e

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig/audit"
)

// A history is what happens in one queue from now on, as an auditor sees it.
type history struct {
	*bench
	queue   string
	watcher *audit.Watcher
	from    int64 // the revision at which it began
}

// follow begins the history of a queue, with checks beside all that there are.
func (b *bench) follow(t *testing.T, queue string, checks ...audit.Check) *history {
	t.Helper()
	h := &history{bench: &bench{T: t, Cluster: b.Cluster, k: b.k}, queue: queue}
	h.watcher = audit.Follow(b.Etcd(t), audit.New(append(audit.All(patience, time.Minute), checks...)...))
	from, err := h.watcher.Sync(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h.from = from
	return h
}

// until waits for something that the auditor sees.
func (h *history) until(what string, so func(a *audit.Auditor) bool) {
	h.Helper()
	ctx, cancel := context.WithTimeout(h.Context(), patience)
	defer cancel()
	if err := h.watcher.Until(ctx, so); err != nil {
		h.Fatalf("wait for %s: %v\n%s", what, err, h.state())
	}
}

// findings ends the history, and returns what was found in it.
func (h *history) findings() []audit.Finding {
	h.Helper()
	found, err := h.watcher.Stop(h.Context())
	if err != nil {
		h.Fatal(err)
	}
	return h.since(found)
}

// since returns those findings that are of this history.
func (h *history) since(found []audit.Finding) []audit.Finding {
	return slices.DeleteFunc(slices.Clone(found), func(f audit.Finding) bool { return f.Revision <= h.from })
}

func (h *history) plan(a *audit.Auditor) *v1alpha1.Plan {
	for p := range a.State.Plans() {
		if p.Name == h.queue {
			return p
		}
	}
	return nil
}

// lines returns at most ten findings, a line each.
func lines(found []audit.Finding) string {
	var text strings.Builder
	for _, f := range found[:min(10, len(found))] {
		text.WriteString("\n" + f.String())
	}
	return text.String()
}

// checks returns the names of the checks that have found something, in order, with commas
// between.
func checks(found []audit.Finding) string {
	var names []string
	for _, f := range found {
		names = append(names, f.Check)
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}
