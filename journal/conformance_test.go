package journal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/cluster"
	"github.com/oxgang/oxgang/job"
	"github.com/oxgang/oxgang/journal"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/schedulertest"
)

func nodes(t testing.TB) *cluster.Cluster {
	t.Helper()
	c, err := cluster.New([]cluster.Node{{ID: "n0", GPUType: "t4", Capacity: cluster.Resources{GPUs: 4}}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func world() scheduler.Backend {
	var jobs []schedulertest.ToyJob
	for i := range 6 {
		jobs = append(jobs, schedulertest.ToyJob{
			Spec: &job.Spec{ID: job.ID(fmt.Sprintf("job-%d", i)), GPUs: 2, BatchSize: 32, Batch: job.BatchLimits{Init: 32, Max: 32}},
			At:   time.Duration(i*i) * time.Minute, Work: 9 * time.Minute, LostAt: time.Duration(i%2) * 5 * time.Minute,
		})
	}
	return schedulertest.NewToy(jobs)
}

// record runs the policy in a world and returns the journal of it.
func record(t testing.TB, b scheduler.Backend, p schedulertest.FirstFit) (string, error) {
	t.Helper()
	var out bytes.Buffer
	c := nodes(t)
	w := journal.NewWriter(&out, journal.Header{Policy: "first fit", Start: schedulertest.Epoch, Round: time.Minute, Cluster: c})
	err := schedulertest.DriveWith(c, p, w)(context.WithoutCancel(t.Context()), b)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String(), err
}

func replay(t testing.TB, text string) *journal.Backend {
	t.Helper()
	r, err := journal.NewReader(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return journal.Replay(r)
}

func TestReplay_keeps_the_contract(t *testing.T) {
	text, err := record(t, world(), schedulertest.FirstFit{})
	if err != nil {
		t.Fatal(err)
	}
	schedulertest.Run(t, func(t testing.TB) scheduler.Backend { return replay(t, text) }, schedulertest.Drive(nodes(t)))
}

func TestReplay_gives_the_same_journal_byte_for_byte(t *testing.T) {
	first, err := record(t, world(), schedulertest.FirstFit{})
	if err != nil {
		t.Fatal(err)
	}
	if again, err := record(t, world(), schedulertest.FirstFit{}); err != nil || again != first {
		t.Fatalf("the same run twice: %v\n%s", err, cmp.Diff(first, again))
	}
	b := replay(t, first)
	again, err := record(t, b, schedulertest.FirstFit{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, again); diff != "" {
		t.Error(diff)
	}
	if c := b.Comparison(); c.Rounds != strings.Count(first, `"round":{`) || c.First != nil {
		t.Errorf("got %+v, want every round compared and none to differ", c)
	}
}

func TestReplay_of_another_policy(t *testing.T) {
	text, err := record(t, world(), schedulertest.FirstFit{})
	if err != nil {
		t.Fatal(err)
	}
	last := schedulertest.FirstFit{Last: true}
	_, err = record(t, replay(t, text), last)
	var d *journal.Difference
	if !errors.As(err, &d) {
		t.Fatalf("got %v, want a difference", err)
	}
	b := replay(t, text)
	b.Shadow = true
	if _, err := record(t, b, last); err != nil {
		t.Fatal(err)
	}
	c := b.Comparison()
	if diff := cmp.Diff(d, c.First); diff != "" {
		t.Errorf("first difference in shadow: %s", diff)
	}
	if c.Rounds != strings.Count(text, `"round":{`) || c.Differing == 0 || c.Differing >= c.Rounds || c.Actions < c.Differing {
		t.Errorf("got %+v", c)
	}
}
