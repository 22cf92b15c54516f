package trace

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

// FuzzRead feeds every reader anything: it must end in an error or in arrivals
// that obey the package's rules, and our own format must hold them.
func FuzzRead(f *testing.F) {
	for i, format := range formats {
		for _, s := range samples {
			if s.format == format.Name {
				f.Add(uint8(i), false, []byte(s.text))
				f.Add(uint8(i), true, []byte(s.text[:len(s.text)*2/3]))
				f.Add(uint8(i), true, []byte("\uFEFF"+s.text+s.text))
			}
		}
		f.Add(uint8(i), false, []byte("\r\n\t|,\"'{}[]"))
	}
	f.Fuzz(func(t *testing.T, which uint8, skip bool, data []byte) {
		o := parse.Options{MaxLine: 4096, Summary: new(parse.Summary)}
		if skip {
			o.OnBadRow = parse.Skip
		}
		format := formats[int(which)%len(formats)]
		all, err := parse.Collect(format.Read(bytes.NewReader(data), o))
		if err != nil {
			return
		}
		obey(t, all, o.Summary)
		if len(all) == 0 {
			return // every row dropped: nothing to write
		}
		if diff := cmp.Diff(all, there(t, "jsonl", all)); diff != "" {
			t.Errorf("arrivals after a round trip (-want +got):\n%s", diff)
		}
	})
}

// FuzzOpen lets the input choose its format.
func FuzzOpen(f *testing.F) {
	for _, s := range samples {
		f.Add([]byte(s.text))
		f.Add([]byte(packed(s.text)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		o := parse.Options{MaxLine: 4096, OnBadRow: parse.Skip, Summary: new(parse.Summary)}
		seq, err := Open(io.LimitReader(bytes.NewReader(data), 1<<20), "", o)
		if err != nil {
			return
		}
		all, err := parse.Sorted(seq)
		if err != nil {
			return
		}
		obey(t, all, o.Summary)
		for i := 1; i < len(all); i++ {
			if all[i].At < all[i-1].At {
				t.Fatalf("arrival %d at %v, after one at %v", i, all[i].At, all[i-1].At)
			}
		}
		d, err := Describe(seqOf(all...), nil)
		if err != nil || d.Jobs != len(all) || d.String() == "" {
			t.Errorf("description of %d jobs: %+v, %v", len(all), d, err)
		}
	})
}

// obey fails the test unless the arrivals obey the rules of the package and
// agree with the summary.
func obey(t *testing.T, all []workload.Arrival, s *parse.Summary) {
	t.Helper()
	seen := map[job.ID]bool{}
	for _, a := range all {
		if err := parse.Check(&a); err != nil {
			t.Fatalf("arrival %+v: %v", a, err)
		}
		if seen[a.Spec.ID] {
			t.Fatalf("two arrivals called %q", a.Spec.ID)
		}
		seen[a.Spec.ID] = true
	}
	if s.Jobs != len(all) || s.Rows < s.Jobs+s.Bad {
		t.Fatalf("summary %+v, want %d jobs", s, len(all))
	}
}

// The rules of the package are checked: each breach is caught.
func TestCheckCatches(t *testing.T) {
	nan := 0.0
	nan /= nan
	for name, breach := range map[string]func(*workload.Arrival){
		"no id":            func(a *workload.Arrival) { a.Spec.ID = "" },
		"no GPUs":          func(a *workload.Arrival) { a.Spec.GPUs = 0 },
		"too many GPUs":    func(a *workload.Arrival) { a.Spec.GPUs = parse.MaxCount + 1 },
		"before time 0":    func(a *workload.Arrival) { a.At = -1 },
		"negative running": func(a *workload.Arrival) { a.Duration = -1 },
		"NaN":              func(a *workload.Arrival) { a.Spec.Weight = nan },
	} {
		a := workload.Arrival{Spec: job.Spec{ID: "a", GPUs: 1}}
		if err := parse.Check(&a); err != nil {
			t.Fatalf("a good arrival: %v", err)
		}
		breach(&a)
		if parse.Check(&a) == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if !errors.Is(&parse.Error{Err: io.EOF}, io.EOF) {
		t.Error("an Error does not unwrap to its cause")
	}
}
