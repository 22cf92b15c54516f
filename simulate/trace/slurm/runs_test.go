package slurm

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Packed runs are read back as they were added, in order and singly, and all runs of repeated jobs are found.
func TestRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var packed runs
		var all []run
		parted := rapid.Bool().Draw(t, "parts")
		for range rapid.IntRange(0, 3*blockRuns).Draw(t, "runs") {
			r := drawRun(t, parted)
			r.place = uint32(len(all))
			packed.add(&r)
			all = append(all, r)
		}
		var read []run
		packed.each(func(r *run) bool {
			got := *r
			if got.name > 0 {
				got.text = "" // of an earlier run
			}
			read = append(read, got)
			return true
		})
		if !slices.Equal(read, all) {
			t.Fatalf("read\n%+v\nwant\n%+v", read, all)
		}
		found := packed.repeated()
		for i := range all {
			if r := packed.at(uint32(i)); r != read[i] && (r.name == 0 || r.id != read[i].id) {
				t.Fatalf("run %d: %+v, want %+v", i, r, read[i])
			}
			again := slices.ContainsFunc(all, func(o run) bool { return o.place != all[i].place && packed.byJob(&o.id, &all[i].id) == 0 })
			if again && !slices.Contains(found, place{all[i].id, uint32(i)}) {
				t.Fatalf("run %d of job %v is not found among the repeated", i, all[i].id)
			}
		}
	})
}

func drawRun(t *rapid.T, parted bool) run {
	small := rapid.OneOf(rapid.Uint32Range(0, 3), rapid.Uint32())
	r := run{
		id:     key{number: rapid.OneOf(rapid.Uint64Range(1, 40), rapid.Uint64()).Draw(t, "number"), cluster: uint16(rapid.IntRange(0, 2).Draw(t, "cluster"))},
		submit: small.Draw(t, "submit"), eligible: small.Draw(t, "eligible"), start: small.Draw(t, "start"), elapsed: small.Draw(t, "elapsed"),
		limit: small.Draw(t, "limit"), priority: small.Draw(t, "priority"), owner: small.Draw(t, "owner"), ask: small.Draw(t, "ask"),
		state: small.Draw(t, "state"), line: small.Draw(t, "line"), name: rapid.Uint32Range(0, 2).Draw(t, "name"),
	}
	if rapid.Bool().Draw(t, "task") {
		r.id.part = rapid.Uint32Range(1, 3).Draw(t, "part")
		if parted {
			r.id.part += heterogeneous
		}
	}
	if r.name == 0 {
		r.text = fmt.Sprintf("train-%d", rapid.IntRange(0, 2000).Draw(t, "text"))
	}
	return r
}
