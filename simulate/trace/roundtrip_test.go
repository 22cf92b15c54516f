package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

func seqOf(all ...workload.Arrival) iter.Seq2[workload.Arrival, error] {
	return func(yield func(workload.Arrival, error) bool) {
		for _, a := range all {
			if !yield(a, nil) {
				return
			}
		}
	}
}

// there writes arrivals and reads them again.
func there(t rapid.TB, format string, all []workload.Arrival) []workload.Arrival {
	t.Helper()
	f, err := Find(format)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f.Write(&b, seqOf(all...)); err != nil {
		t.Fatal(err)
	}
	if !f.Sniff(b.Bytes()) {
		t.Errorf("what the %s writer wrote is not sniffed as %s", format, format)
	}
	got, err := parse.Collect(f.Read(&b, parse.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// fillAll sets every field below v to something that is not zero.
func fillAll(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for _, field := range v.Fields() {
			fillAll(field)
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fillAll(key)
		fillAll(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fillAll(v.Index(0))
		fillAll(v.Index(1))
	case reflect.String:
		v.SetString("x\n\"é<")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(1.0 / 3)
	case reflect.Uint8:
		v.SetUint(2)
	default:
		v.SetInt(7)
	}
}

// A field added to job.Spec or workload.Arrival must be added to the format.
func TestJSONLHoldsEveryField(t *testing.T) {
	var a workload.Arrival
	fillAll(reflect.ValueOf(&a).Elem())
	a.Spec.Timed = false                    // follows from a duration without an application
	a.Spec.Schedule.Mode = job.Given        // the others have no regimes
	a.Spec.Schedule.Sizes = []int{20, 5, 7} // no size twice in a row
	got := there(t, "jsonl", []workload.Arrival{a})
	if diff := cmp.Diff([]workload.Arrival{a}, got); diff != "" {
		t.Errorf("arrival after a round trip (-want +got):\n%s", diff)
	}
}

// The schema names the fields of the format, at each level.
func TestSchemaFields(t *testing.T) {
	type object struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	var check func(path string, schema []byte, typ reflect.Type)
	check = func(path string, schema []byte, typ reflect.Type) {
		var o object
		if err := json.Unmarshal(schema, &o); err != nil {
			t.Fatal(err)
		}
		for field := range typ.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			sub, ok := o.Properties[name]
			if !ok {
				t.Errorf("schema has no property %s%s", path, name)
			} else if field.Type.Kind() == reflect.Struct {
				check(path+name+".", sub, field.Type)
			}
			delete(o.Properties, name)
		}
		for name := range o.Properties {
			t.Errorf("schema property %s%s is no field of the format", path, name)
		}
	}
	check("", []byte(schema), reflect.TypeFor[jsonArrival]())
}

// timeSpan draws what a Duration field may hold.
var timeSpan = rapid.Map(rapid.Int64Range(0, parse.MaxSeconds*1e9), func(n int64) time.Duration { return time.Duration(n) })

func TestJSONLRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Float64Range(0, math.MaxFloat64)
		a := workload.Arrival{
			At: timeSpan.Draw(t, "at"), Duration: timeSpan.Draw(t, "duration"), CancelAfter: timeSpan.Draw(t, "cancel"),
			Application: rapid.String().Draw(t, "application"),
			Spec: job.Spec{
				ID: job.ID(rapid.StringN(1, 20, -1).Draw(t, "id")), GPUs: rapid.IntRange(1, parse.MaxCount).Draw(t, "gpus"),
				Weight: number.Draw(t, "weight"), CPUs: number.Draw(t, "cpus"), Target: number.Draw(t, "target"),
				Memory: rapid.Int64Range(0, math.MaxInt64).Draw(t, "memory"), Latency: timeSpan.Draw(t, "latency"),
				Adaptivity: job.Adaptivity(rapid.IntRange(0, 7).Draw(t, "adaptivity")), Goal: job.Goal(rapid.IntRange(0, 2).Draw(t, "goal")),
				NonPreemptive: rapid.Bool().Draw(t, "non-preemptive"),
				Schedule:      job.BatchSchedule{Mode: job.ScheduleMode(rapid.IntRange(0, int(job.GNS)).Draw(t, "mode")), Epochs: rapid.IntRange(0, 9).Draw(t, "epochs")},
			},
		}
		if diff := cmp.Diff([]workload.Arrival{a}, there(t, "jsonl", []workload.Arrival{a})); diff != "" {
			t.Errorf("arrival after a round trip (-want +got):\n%s", diff)
		}
	})
}

func TestSiaRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-zé0-9",-]{1,20}`)
		a := workload.Arrival{
			At:          timeSpan.Draw(t, "at"),
			Application: name.Draw(t, "application"),
			Spec: job.Spec{
				ID: job.ID(name.Draw(t, "id")), GPUs: rapid.IntRange(1, parse.MaxCount).Draw(t, "gpus"), BatchSize: rapid.IntRange(1, parse.MaxSamples).Draw(t, "batch"),
				Adaptivity: rapid.SampledFrom([]job.Adaptivity{job.Adaptive, job.StrongScaling, job.Rigid}).Draw(t, "adaptivity"),
			},
		}
		if diff := cmp.Diff([]workload.Arrival{a}, there(t, "sia", []workload.Arrival{a})); diff != "" {
			t.Errorf("arrival after a round trip (-want +got):\n%s", diff)
		}
	})
}

func TestWriteErrors(t *testing.T) {
	good := workload.Arrival{Application: "bert", Spec: job.Spec{ID: "a", GPUs: 1, BatchSize: 12, Adaptivity: job.Adaptive}}
	change := func(f func(*workload.Arrival)) workload.Arrival {
		a := good
		f(&a)
		return a
	}
	tests := []struct {
		name, format string
		a            workload.Arrival
		want         string
	}{
		{"no application", "sia", change(func(a *workload.Arrival) { a.Application = "" }), "write sia trace: job a: no application, which the format needs"},
		{"no batch size", "sia", change(func(a *workload.Arrival) { a.Spec.BatchSize = 0 }), "write sia trace: job a: batch size 0, want at least 1"},
		{"no category", "sia", change(func(a *workload.Arrival) { a.Spec.Adaptivity = job.BatchSizes }), "write sia trace: job a: adaptivity 100 has no category"},
		{"line break", "sia", change(func(a *workload.Arrival) { a.Application = "a\nb" }), "write sia trace: job a: line break in its name or application"},
		{"no GPUs", "sia", change(func(a *workload.Arrival) { a.Spec.GPUs = 0 }), "write sia trace: job a: gpus 0, want 1 to 1000000"},
		{"not a number", "jsonl", change(func(a *workload.Arrival) { a.Spec.CPUs = math.NaN() }), "write jsonl trace: job a: cpus NaN, want a finite number of at least 0"},
		{"before time 0", "jsonl", change(func(a *workload.Arrival) { a.At = -time.Second }), "write jsonl trace: job a: at_s -1, want seconds of at least 0 and at most 9e9"},
		{"unknown goal", "jsonl", change(func(a *workload.Arrival) { a.Spec.Goal = 9 }), "write jsonl trace: job a: goal 9, want at most 2"},
		{"unknown adaptivity", "jsonl", change(func(a *workload.Arrival) { a.Spec.Adaptivity = 9 }), "write jsonl trace: job a: adaptivity 1001 has a bit without a name"},
		{"negative limit", "jsonl", change(func(a *workload.Arrival) { a.Spec.MaxGPUs = -1 }), "write jsonl trace: job a: max_gpus -1, want at least 0"},
	}
	for _, tc := range tests {
		t.Run(tc.format+"/"+tc.name, func(t *testing.T) {
			f, err := Find(tc.format)
			if err != nil {
				t.Fatal(err)
			}
			if err := f.Write(new(bytes.Buffer), seqOf(tc.a)); err == nil || err.Error() != tc.want {
				t.Errorf("got error %v, want %s", err, tc.want)
			}
			broken := errors.New("bad row")
			bad := func(yield func(workload.Arrival, error) bool) { yield(workload.Arrival{}, broken) }
			if err := f.Write(new(bytes.Buffer), bad); !errors.Is(err, broken) {
				t.Errorf("got error %v, want that of the sequence", err)
			}
		})
	}
}

func TestSeconds(t *testing.T) {
	tests := []struct {
		text string
		want time.Duration
		ok   bool
	}{
		{"0", 0, true},
		{"107", 107 * time.Second, true},
		{"107.", 107 * time.Second, true},
		{"172783.693367", 172783693367 * time.Microsecond, true},
		{"0.000000001", 1, true},
		{"1e3", 1000 * time.Second, true},
		{"-0", 0, true},
		{".5", 500 * time.Millisecond, true},
		{"8999999999.999999999", 8999999999999999999, true},
		{"9e9", 9e18, true},
		{"9000000001", 0, false},
		{"", 0, false},
		{"1.-5", 0, false},
		{"1.+5", 0, false},
		{"1 ", 0, false},
		{"nan", 0, false},
		{"-1e-3", 0, false},
	}
	for _, tc := range tests {
		if got, ok := parse.Seconds(tc.text); got != tc.want || ok != tc.ok {
			t.Errorf("parseSeconds(%q) = %d, %v, want %d, %v", tc.text, got, ok, tc.want, tc.ok)
		}
	}
}
