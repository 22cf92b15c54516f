package policy_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
	"github.com/oxgang/oxgang/policy"
)

// fill sets all that a value leads to, each number to another one.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint8:
		v.SetUint(uint64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n) / 7)
	case reflect.String:
		v.SetString(string(rune('a' + *n)))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(1), n)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, n)
		fill(value, n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(int64(*n), 5).UTC()))
			return
		}
		for _, field := range v.Fields() {
			fill(field, n)
		}
	default:
		panic("a field of type " + v.Type().String())
	}
}

// A field that is added to one of these types is remembered, too.
func TestPlainTypes_remember_all_fields(t *testing.T) {
	for _, pair := range [][2]memory.Rememberer{
		{&job.Spec{}, &job.Spec{}},
		{&job.Status{}, &job.Status{}},
		{&cluster.Node{}, &cluster.Node{}},
		{&cluster.Rental{}, &cluster.Rental{}},
		{&cluster.Loan{}, &cluster.Loan{}},
		{&policy.Decision{}, &policy.Decision{}},
		{&perf.Params{}, &perf.Params{}},
		{&perf.Observation{}, &perf.Observation{}},
		{&perf.Sensitivity{}, &perf.Sensitivity{}},
	} {
		n := 0
		fill(reflect.ValueOf(pair[0]).Elem(), &n)
		data, err := memory.Marshal(pair[0])
		if err == nil {
			err = memory.Unmarshal(data, pair[1])
		}
		if err != nil || !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("%T: got %+v, want %+v, %v", pair[0], pair[1], pair[0], err)
		}
	}
}
