package explain

import (
	"strings"
	"testing"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
)

// A list that is cut short states how many it leaves out.
func TestNamed_counts_the_rest(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e"}
	for n, want := range map[int]string{1: "a", 2: "a and b", 3: "a, b and c", 4: "a, b, c and 1 more", 5: "a, b, c and 2 more"} {
		if got := named(names[:n], n); got != want {
			t.Errorf("%d names: %q, want %q", n, got, want)
		}
	}
	if got := named(names[:2], 7); got != "a, b and 5 more" {
		t.Errorf("2 of 7 names: %q", got)
	}
	takers := make([]Taker, len(names))
	for i, name := range names {
		takers[i] = Taker{Name: name, GPUs: i + 1, Reason: policy.Started.String()}
	}
	if got := takenBy(takers, "them"); !strings.Contains(got, "a started on 1 of them, b started on 2, c started on 3, 2 more jobs ") {
		t.Errorf("five takers: %q", got)
	}
	if got := takenBy(takers[:3], "them"); strings.Contains(got, "more") {
		t.Errorf("three takers: %q", got)
	}
	for n, want := range map[int]string{0: "", 1: " a, which comes first", 2: " a and b, which come first", 5: " a, b, c and 2 more, which come first"} {
		if got := unplaced(&explainContext{displaced: names[:n]}); !strings.Contains(got, want) || n == 0 && got != "" {
			t.Errorf("%d displaced: %q, want %q", n, got, want)
		}
	}
}

// A speed is named if it differs from 1, and a gain only if the job is faster.
func TestSpeeds_in_words(t *testing.T) {
	for value, want := range map[float64][2]string{
		0: {"", "no faster"}, 0.5: {"0.5 times as fast", "no faster"}, 1: {"", "no faster"}, 1.5: {"1.5 times as fast", "1.5 times as fast"}, 2: {"2 times as fast", "2 times as fast"},
	} {
		s := &explainContext{why: policy.Reason{Value: value}}
		if got := speed(s); (got == "") != (want[0] == "") || !strings.Contains(got, want[0]) {
			t.Errorf("speed %v: %q, want %q", value, got, want[0])
		}
		if got := faster(s); !strings.Contains(got, want[1]) {
			t.Errorf("speed %v: %q, want %q", value, got, want[1])
		}
	}
}

// What a cluster has for a job counts the types that are eligible, or the one that the reason names.
func TestHave(t *testing.T) {
	types := []TypeView{{Type: "a100", GPUs: 4, Free: 1}, {Type: "t4", GPUs: 16, Free: 1}, {Type: "v100", GPUs: 1, Free: 0}}
	only := &job.Spec{GPUsPerReplica: map[cluster.GPUType]int{"a100": 1, "v100": 1}}
	for _, c := range []struct {
		spec *job.Spec
		of   cluster.GPUType
		want int
	}{{nil, "", 16}, {only, "", 4}, {only, "a100", 4}, {nil, "v100", 1}, {nil, "h100", 0}} {
		s := &explainContext{spec: c.spec, why: policy.Reason{Config: cluster.Configuration{GPUType: c.of}}, view: View{Types: types}}
		if got := have(s); got != c.want {
			t.Errorf("%v, %q: %d, want %d", c.spec, c.of, got, c.want)
		}
	}
	s := &explainContext{spec: only, why: policy.Reason{Config: cluster.Configuration{GPUType: "a100"}}, view: View{Types: types}}
	for n, want := range map[int]bool{1: false, 2: true} { // v100 has one GPU, and counts
		if most, all := s.everyTypeLacks(n); all != want || most != 1 {
			t.Errorf("%d GPUs: %d free at most, every type lacks them %t; want 1, %t", n, most, all, want)
		}
	}
}
