package agentapi

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// numbers calls f with each number of a message, by its name.
func numbers(name string, v reflect.Value, f func(name string, v reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer:
		numbers(name, v.Elem(), f)
	case reflect.Struct:
		for i := range v.NumField() {
			numbers(name+"."+v.Type().Field(i).Name, v.Field(i), f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			numbers(fmt.Sprintf("%s[%d]", name, i), v.Index(i), f)
		}
	case reflect.Float64, reflect.Int, reflect.Int64:
		f(name, v)
	default: // no number
	}
}

// Numbers that no quantity may be.
var (
	badFloats = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e308, -1e308, -1, -1e-300}
	badWholes = []int64{-1, math.MinInt64, math.MaxInt64, 1 << 53}
)

// escapes puts each bad number in each place of each message and returns those that a check
// lets through, as "Report.SyncTime NaN".
func escapes(t *testing.T, check func(message) error) []string {
	var all []string
	for _, name := range []string{"hello", "report", "checkpoint"} {
		m, of := incoming(name)
		if err := decode([]byte(golden(t, name)), of, m); err != nil {
			t.Fatal(err)
		}
		v := reflect.ValueOf(m)
		numbers(v.Type().Elem().Name(), v, func(name string, n reflect.Value) {
			good := reflect.New(n.Type()).Elem()
			good.Set(n)
			if n.Kind() == reflect.Float64 {
				for _, bad := range badFloats {
					n.SetFloat(bad)
					if check(m) == nil {
						all = append(all, fmt.Sprint(name, " ", bad))
					}
				}
			} else {
				for _, bad := range badWholes {
					n.SetInt(bad)
					if check(m) == nil {
						all = append(all, fmt.Sprint(name, " ", bad))
					}
				}
			}
			n.Set(good)
		})
	}
	return all
}

// Every number passes the boundary, whichever way it came in.
func TestCheck_lets_no_bad_number_through(t *testing.T) {
	if got := escapes(t, message.Check); len(got) > 0 {
		t.Errorf("let through: %s", strings.Join(got, ", "))
	}
}

// overlooking returns a twin of Check that has a bug: it does not see numbers of a kind.
func overlooking(what func(name string, v reflect.Value) bool) func(message) error {
	return func(m message) error {
		text, v := fmt.Sprintf("%+v", m), reflect.ValueOf(m)
		numbers(v.Type().Elem().Name(), v, func(name string, n reflect.Value) {
			if what(name, n) {
				good := reflect.New(n.Type()).Elem()
				if n.CanInt() {
					good.SetInt(1)
				}
				n.Set(good)
			}
		})
		if err := m.Check(); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
		return nil
	}
}

// The check above sees seeded bugs of the boundary.
func TestEscapes_sees_bugs(t *testing.T) {
	isFloat := func(v reflect.Value) bool { return v.Kind() == reflect.Float64 }
	for name, twin := range map[string]struct {
		bug  func(string, reflect.Value) bool
		want string
	}{
		"NaN passes":          {func(_ string, v reflect.Value) bool { return isFloat(v) && math.IsNaN(v.Float()) }, "Report.SyncTime NaN"},
		"infinity passes":     {func(_ string, v reflect.Value) bool { return isFloat(v) && math.IsInf(v.Float(), 1) }, "Report.GradSqr +Inf"},
		"no upper limit":      {func(_ string, v reflect.Value) bool { return isFloat(v) && v.Float() > 1e300 }, "Hello.Samples 1e+308"},
		"no lower limit":      {func(_ string, v reflect.Value) bool { return isFloat(v) && v.Float() < 0 }, "Checkpoint.Progress -1"},
		"a field forgotten":   {func(name string, _ reflect.Value) bool { return name == "Report.WaitTime" }, "Report.WaitTime NaN"},
		"an index forgotten":  {func(name string, _ reflect.Value) bool { return name == "Hello.Schedule[0].Epochs" }, "Hello.Schedule[0].Epochs -1"},
		"whole ones negative": {func(_ string, v reflect.Value) bool { return v.CanInt() && v.Int() < 0 }, "Report.Step -1"},
	} {
		if got := escapes(t, overlooking(twin.bug)); !slices.Contains(got, twin.want) {
			t.Errorf("%s: found %q, want %s among it", name, got, twin.want)
		}
	}
}

func TestSpan_admit(t *testing.T) {
	for _, tc := range []struct {
		s        span
		v, want  float64
		complain string
	}{
		{seconds, 86400, 86400, ""},
		{seconds, math.Nextafter(86400, 1e9), 0, "86400.00000000001, want 0 to 86400 s"},
		{seconds, math.Copysign(0, -1), 0, ""},
		{seconds, 5e-324, 5e-324, ""},
		{gradients, 1e-30, 1e-30, ""},
		{gradients, 9e-31, 0, ""},
		{gradients, 1.1e30, 0, "1.1e+30, want 0 to 1e+30"},
		{samples, 1e18, 1e18, ""},
		{samples, math.NaN(), 0, "NaN, want 0 to 1e+18 samples"},
		{batches, 0, 0, "0, want 1 to 1000000000 samples"},
		{versions, 0, 0, "0, want 1"},
	} {
		got, err := tc.s.admit(tc.v)
		complaint := ""
		if err != nil {
			complaint = err.Error()
		}
		if got != tc.want || math.Signbit(got) || complaint != tc.complain {
			t.Errorf("%v of %v: got %v and %q, want %v and %q", tc.v, tc.s, got, complaint, tc.want, tc.complain)
		}
	}
}

// physical is a second opinion on a report, in other words than Check.
func physical(r *Report) error {
	switch {
	case r.Generation < 1 || r.Sequence < 1 || r.Step < 0 || r.Epoch < 0 || r.Epoch > 1_000_000:
		return fmt.Errorf("counts of %+v", r)
	case r.Batch.Local < 1 || r.Batch.Accumulation < 0 || r.Batch.Local > 1_000_000_000/(r.Batch.Accumulation+1):
		return fmt.Errorf("batch of %+v", r)
	case r.SyncTime > r.StepTime:
		return fmt.Errorf("exchange above step: %+v", r)
	}
	for i, f := range []struct{ v, most float64 }{
		{r.Progress, 1e18},
		{r.Interval, 86400},
		{r.StepTime, 86400},
		{r.SyncTime, 86400},
		{r.WaitTime, 86400},
		{r.GradSqr, 1e30},
		{r.GradVar, 1e30},
	} {
		if math.IsNaN(f.v) || math.IsInf(f.v, 0) || math.Signbit(f.v) || f.v > f.most {
			return fmt.Errorf("float %d of %+v", i, r)
		}
	}
	if noise := r.GradVar / r.GradSqr; r.GradSqr > 0 && math.IsInf(noise, 0) {
		return fmt.Errorf("gradient noise %v of %+v", noise, r)
	}
	held := r.Job("j1", heldGPUs, 8, 1<<30)
	return held.Validate()
}

// FuzzReport decodes anything: it must not panic, and what it lets through is physical
// and says the same when it is written and read again.
func FuzzReport(f *testing.F) {
	for _, body := range seeds(f) {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var r Report
		if decode(body, reportShape, &r) != nil {
			return
		}
		if err := physical(&r); err != nil {
			t.Error(err)
		}
		text, err := json.Marshal(&r)
		if err != nil {
			t.Fatal(err)
		}
		var again Report
		if err := decode(text, reportShape, &again); err != nil || again != r {
			t.Errorf("%s: got %+v and %v, want %+v", text, again, err, r)
		}
	})
}

// seeds are the golden report and others that each break one rule.
func seeds(t testing.TB) []string {
	good := golden(t, "report")
	all := []string{good, "", "[[[[", `{"generation":{}}`}
	for _, change := range [][2]string{
		{"0.21", "1e308"},
		{"0.21", "-0.21"},
		{`"grad_sqr":0.5`, `"grad_sqr":1e-320`},
		{"0.03", "0.3"},
		{"30.0", "-0.0"},
		{"151000.5", "1e19"},
		{`"local":32`, `"local":0`},
		{`"accumulation":1`, `"accumulation":999999999`},
		{`"epoch":2`, `"epoch":2000000`},
		{`"sequence":17`, `"sequence":-17`},
	} {
		all = append(all, strings.Replace(good, change[0], change[1], 1))
	}
	return all
}

// The property of FuzzReport sees a decoder without a boundary, by its seeds alone.
func TestPhysical_sees_bugs(t *testing.T) {
	caught := 0
	for _, body := range seeds(t) {
		var r Report
		if json.Unmarshal([]byte(body), &r) == nil && physical(&r) != nil {
			caught++
		}
	}
	if caught != 10 {
		t.Errorf("%d of 10 bad reports are found to be so", caught)
	}
	nan := goldenReport(t)
	if nan.WaitTime = math.NaN(); physical(&nan) == nil {
		t.Error("NaN is found physical")
	}
}
