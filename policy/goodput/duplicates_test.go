package goodput

import (
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/internal/draws"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/policytest"
)

// A sameModel can be compared with its copies.
type sameModel struct{ perf.Model }

func (m *sameModel) Same(other perf.Model) bool {
	o, ok := other.(*sameModel)
	return ok && o.Model == m.Model
}

// Rows that are copied from a duplicate equal rows that are evaluated.
func TestDuplicates_equal_evaluated_rows(t *testing.T) {
	draws.AtLeast(t, 200) // in some, jobs have no models
	copied := 0
	rapid.Check(t, func(t *rapid.T) {
		s := policytest.NewWorld(t).Snapshot()
		for i, j := range s.Jobs {
			if j.Perf == nil {
				continue
			}
			j.Perf = &sameModel{j.Perf}
			spec, other := *j.Spec, *j
			spec.ID, spec.Target, spec.Priority = job.ID(fmt.Sprintf("duplicate %d", i)), spec.Target+1, spec.Priority+1
			if rapid.Bool().Draw(t, "larger") {
				spec.MaxGPUs = max(spec.MaxGPUs, spec.GPUs) + 1
			}
			other.Spec, other.Perf = &spec, &sameModel{j.Perf.(*sameModel).Model}
			s.Jobs = append(s.Jobs, &other)
		}
		p, err := New(Options{P: -0.5, Growth: 2, Solver: "price", Cells: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.meet(s); err != nil {
			t.Fatal(err)
		}
		var stale []staleRow
		for _, j := range s.Jobs {
			stale = append(stale, p.compare(&Row{}, j))
		}
		_, later := p.duplicates(stale)
		copied += len(later)
		all := p.refreshRows(s)
		p.Peaks(all)
		for _, r := range all {
			own := &Row{job: r.job}
			p.refresh(staleRow{own, true, true})
			p.Peak(own)
			if r.job.Phase == job.Profiling {
				continue
			}
			if math.IsNaN(own.unit) && math.IsNaN(r.unit) {
				own.unit, r.unit = 0, 0
			}
			got, want := []any{r.columns, r.goodput, r.cells, r.allowed, r.limits, r.held, r.unit, r.fewest, r.peak, r.lean, r.fast}, []any{own.columns, own.goodput, own.cells, own.allowed, own.limits, own.held, own.unit, own.fewest, own.peak, own.lean, own.fast}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("job %s: row\n%+v\nwant\n%+v", r.job.ID, got, want)
			}
		}
	})
	if copied == 0 {
		t.Error("no row was copied")
	}
}

// unrelated are the fields of a specification on which goodputs do not depend, or that job.Job has a copy of.
var unrelated = map[string]bool{
	"ID": true, "Name": true, "User": true, "Queue": true, "Class": true, "Weight": true, "Priority": true, "Target": true, "RestartOverhead": true,
	"Resizes": true, "NoCheckpoint": true, "CPUs": true, "Memory": true, "Input": true, // costs of restarts, requests
	"Batch": true, "Schedule": true, // part of the limits and of the model
}

// A job that differs from another in a field of its specification is no duplicate, except for the unrelated ones.
func TestDuplicates_compare_every_field(t *testing.T) {
	w, err := cluster.New([]cluster.Node{{ID: "n", GPUType: "a100", Capacity: cluster.Resources{GPUs: 8}}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(Options{P: -0.5, Growth: 2, Solver: "price"})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.meet(&policy.Snapshot{Cluster: w}); err != nil {
		t.Fatal(err)
	}
	model := &sameModel{perf.ByDuration{Spec: &job.Spec{}}}
	first := job.Spec{ID: "a", Adaptivity: job.Adaptive, Batch: job.BatchLimits{Init: 8, Max: 64}}
	row := &policy.Job{Spec: &first, Perf: model, Limits: &first.Batch}
	for i := range reflect.TypeFor[job.Spec]().NumField() {
		field := reflect.TypeFor[job.Spec]().Field(i).Name
		spec := *row.Spec
		otherValue(t, reflect.ValueOf(&spec).Elem().Field(i))
		other := *row
		other.Spec = &spec
		same := kindOf(row) == kindOf(&other) && p.limits(row) == p.limits(&other) && duplicate(row, &other)
		if same != unrelated[field] {
			t.Errorf("duplicates after a change of %s: %v, want %v", field, same, unrelated[field])
		}
	}
}

func otherValue(t *testing.T, v reflect.Value) {
	switch v.Interface().(type) {
	case []cluster.GPUType:
		v.Set(reflect.ValueOf([]cluster.GPUType{"a100"}))
		return
	case map[cluster.GPUType]int:
		v.Set(reflect.ValueOf(map[cluster.GPUType]int{"a100": 2}))
		return
	case time.Duration:
		v.SetInt(v.Int() + 1)
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 3)
	case reflect.Uint8:
		v.SetUint(v.Uint() ^ 1)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Struct:
		otherValue(t, v.Field(0))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	default:
		t.Fatalf("no other value of kind %v", v.Kind())
	}
}
