package workload_test

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/workload"
)

// full is an arrival all of whose fields are set.
func full() workload.Arrival {
	return workload.Arrival{Spec: job.Spec{
		GPUsPerReplica: map[cluster.GPUType]int{"a": 1}, Equivalents: map[cluster.GPUType]int{"a": 2},
		GPUTypes: []cluster.GPUType{"a", "b"}, Parts: []job.Part{{GPUs: 1, Nodes: []cluster.NodeID{"n"}}}, Batch: job.BatchLimits{LocalMax: map[cluster.GPUType]int{"a": 3}},
		Schedule: job.BatchSchedule{Sizes: []int{1, 2}, Regimes: []job.Regime{{}}},
	}}
}

// others returns copies of an arrival that each differ from it in one field, however deep.
func others(t *testing.T, of workload.Arrival) map[string]workload.Arrival {
	all := make(map[string]workload.Arrival)
	var visit func(path string, get func(a *workload.Arrival) reflect.Value)
	visit = func(path string, get func(a *workload.Arrival) reflect.Value) {
		a := of
		v := get(&a)
		if v.Kind() == reflect.Struct {
			for i := range v.NumField() {
				visit(path+"."+v.Type().Field(i).Name, func(a *workload.Arrival) reflect.Value { return get(a).Field(i) })
			}
			return
		}
		switch v.Kind() {
		case reflect.String:
			v.SetString(v.String() + "x")
		case reflect.Bool:
			v.SetBool(!v.Bool())
		case reflect.Float64:
			v.SetFloat(v.Float() + 1)
		case reflect.Int, reflect.Int64:
			v.SetInt(v.Int() + 1)
		case reflect.Uint8:
			v.SetUint(v.Uint() + 1)
		case reflect.Slice:
			v.Set(v.Slice(0, v.Len()-1))
		case reflect.Map:
			v.Set(reflect.MakeMap(v.Type()))
		default:
			t.Fatalf("%s: kind %v, which this test does not know", path, v.Kind())
		}
		all[path] = a
	}
	visit("", func(a *workload.Arrival) reflect.Value { return reflect.ValueOf(a).Elem() })
	return all
}

// An arrival that differs from the one before it in any one field comes out as it went in.
func TestPending_keeps_every_field(t *testing.T) {
	base := full()
	all := others(t, base)
	if len(all) < 45 {
		t.Fatalf("%d fields, want all of an arrival", len(all))
	}
	for path, other := range all {
		p := workload.NewPending([]*workload.Arrival{&base, &other, &base})
		for k, want := range []workload.Arrival{base, other, base} {
			if got := p.Take(); !reflect.DeepEqual(*got, want) {
				t.Errorf("%s, arrival %d: %s", path, k, cmp.Diff(want, *got))
			}
		}
	}
}

// Slices that are nil and empty stay what they are.
func TestPending_nil_and_empty(t *testing.T) {
	none, empty := workload.Arrival{}, workload.Arrival{Spec: job.Spec{GPUTypes: []cluster.GPUType{}}}
	p := workload.NewPending([]*workload.Arrival{&none, &empty})
	if first, second := p.Take(), p.Take(); first.Spec.GPUTypes != nil || second.Spec.GPUTypes == nil {
		t.Errorf("types %#v and %#v, want nil and an empty list", first.Spec.GPUTypes, second.Spec.GPUTypes)
	}
}

// Arrivals come in the given order, each as a copy of its own, and what is left is counted.
func TestPending_takes_from_the_front(t *testing.T) {
	var all []*workload.Arrival
	const many = 10_000
	for k := range many {
		all = append(all, &workload.Arrival{At: time.Duration(k), Duration: time.Hour, Spec: job.Spec{ID: job.ID(fmt.Sprint(k)), GPUs: k % 2}})
	}
	p := workload.NewPending(all)
	all[0].Spec.GPUs = 8 // the list has its own
	for k := range many {
		if p.Len() != many-k || p.At() != time.Duration(k) {
			t.Fatalf("%d left, the first at %v; want %d and %d", p.Len(), p.At(), many-k, k)
		}
		a := p.Take()
		if a.Spec.ID != job.ID(fmt.Sprint(k)) || a.Spec.GPUs != k%2 {
			t.Errorf("arrival %d: %+v", k, a.Spec)
		}
		a.Spec.GPUs = 9
	}
}
