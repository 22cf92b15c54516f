package local

import (
	"os"
	"slices"
	"testing"

	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

// TestSubmit_where_slots_share_GPUs: a job grows to one worker on each GPU and no further, unless it asks for more at
// least, and its workers are on different GPUs while there are such.
func TestSubmit_where_slots_share_GPUs(t *testing.T) {
	o := options(t, 0)
	for _, gpu := range []string{"a", "a", "b", "b"} {
		o.Machine.Slots = append(o.Machine.Slots, slot{Visible: gpu, Shared: true})
	}
	w := open(t, o)
	live := func(id job.ID) *Live {
		all := w.Live()
		return &all[slices.IndexFunc(all, func(l Live) bool { return l.Spec.ID == id })]
	}
	submit := func(name string, least, most int) *job.Spec {
		spec := &job.Spec{GPUs: least, MinGPUs: least, MaxGPUs: most, Adaptivity: job.GPUCount}
		id, err := w.Submit(name, spec, store.Request{Command: []string{"sleep", "1000"}, Dir: o.Dir, Env: os.Environ()})
		if err != nil {
			t.Fatal(err)
		}
		return live(id).Asked
	}
	for _, tc := range []struct{ least, most, want int }{{1, 0, 2}, {1, 4, 2}, {1, 1, 1}, {2, 2, 2}, {3, 4, 4}, {3, 0, 0}} {
		if got := submit("bounded", tc.least, tc.most).MaxGPUs; got != tc.want {
			t.Errorf("%d to %d GPUs: at most %d, want %d", tc.least, tc.most, got, tc.want)
		}
	}

	two, one := submit("two", 2, 2).ID, submit("one", 1, 1).ID
	run := func(id job.ID, gpus int) scheduler.Action {
		return scheduler.Run{Job: id, Allocation: cluster.Allocation{Configuration: cluster.Configuration{Nodes: 1, GPUs: gpus, GPUType: "cpu"}}}
	}
	if err := w.Do(t.Context(), []scheduler.Action{run(two, 2), run(one, 1)}); err != nil {
		t.Fatal(err)
	}
	if held := live(two).Held; !slices.Equal(held, []int{0, 2}) {
		t.Errorf("two workers are on slots %v, want 0 and 2, of both GPUs", held)
	}
	if held := live(one).Held; !slices.Equal(held, []int{1}) {
		t.Errorf("the third worker is on slots %v, want 1", held)
	}
}
