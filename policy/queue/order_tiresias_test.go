package queue_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/policytest"
	"github.com/oxgang/oxgang/policy/queue"
)

func tiresias(t testing.TB, o queue.TiresiasOptions) policy.Policy {
	t.Helper()
	options, err := queue.Tiresias(o)
	if err != nil {
		t.Fatal(err)
	}
	return queue.New(options)
}

func TestTiresias_conformance(t *testing.T) {
	policytest.Run(t, func() policy.Policy {
		return tiresias(t, queue.TiresiasOptions{Threshold: 2 * time.Minute, Promote: 0.5})
	})
}

// Tiresias §3.2.3: a job keeps its GPUs until its GPU time crosses the threshold; then any in
// the first queue goes first, and within a queue who came first.
func TestTiresias_has_two_queues(t *testing.T) {
	for _, test := range []struct {
		name    string
		promote float64
		want    []string
	}{
		// a has 2 GPUs and crosses 4 GPU minutes after 2 rounds, as b does
		{"starving", 0, []string{"a2 b- c-", "a2 b- c-", "a- b2 c-", "a- b2 c-", "a- b- c1", "a- b- c1", "a- b- c1", "a- b- c1", "a2 b- c-"}},
		// a ran for 2 minutes and comes back after as long, and then b
		{"promoted", 1, []string{"a2 b- c-", "a2 b- c-", "a- b2 c-", "a- b2 c-", "a2 b- c-", "a2 b- c-", "a- b2 c-", "a- b2 c-", "a2 b- c-"}},
	} {
		w := policytest.NewToy(t, 2)
		w.Submit("a", 2, time.Hour)
		w.Submit("b", 2, time.Hour)
		w.Submit("c", 1, time.Hour)
		p := tiresias(t, queue.TiresiasOptions{Threshold: 4 * time.Minute, Promote: test.promote})
		var got []string
		for range test.want {
			w.Play(p)
			got = append(got, w.GPUs())
		}
		if d := cmp.Diff(test.want, got); d != "" {
			t.Errorf("%s -want +got\n%s", test.name, d)
		}
	}
}

func TestTiresiasOptions_Validate(t *testing.T) {
	want := "threshold 0s, want above 0s\npromote -1, want at least 0"
	if _, err := queue.Tiresias(queue.TiresiasOptions{Promote: -1}); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
