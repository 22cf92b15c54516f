package metrics

import "testing"

// Results are listed as they were filed, stay where they are, and a clone leaves no trace.
func TestFiled(t *testing.T) {
	var f filed
	if got := f.all(); got == nil || len(got) > 0 {
		t.Errorf("of none, %v, want an empty list", got)
	}
	var at []*JobResult
	for i := range 20_000 {
		at = append(at, f.add(JobResult{Restarts: i}))
		if i%777 == 0 {
			c := f.clone()
			c.add(JobResult{Restarts: -1})
			if all := c.all(); len(all) != i+2 || all[i+1].Restarts != -1 {
				t.Fatalf("a clone of %d results and one more has %d", i+1, len(all))
			}
		}
	}
	all := f.all()
	for i := range at {
		at[i].Restarts = -i
	}
	for i, j := range f.all() {
		if all[i].Restarts != i || j.Restarts != -i {
			t.Fatalf("result %d: listed as %d, and as %d when it was changed in its place", i, all[i].Restarts, j.Restarts)
		}
	}
}
