package store

import (
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/oxgang/oxgang/live/account"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
	"pgregory.net/rapid"
)

var nan = math.NaN()

// anyTime draws times of all kinds that a clock and a program make: none, in another zone,
// with a monotonic reading, to the nanosecond.
var anyTime = rapid.Custom(func(t *rapid.T) time.Time {
	switch rapid.IntRange(0, 3).Draw(t, "kind of time") {
	case 0:
		return time.Time{}
	case 1:
		return time.Now().Add(time.Duration(rapid.Int64().Draw(t, "from now") / 4))
	case 2:
		zone := time.FixedZone("somewhere", rapid.IntRange(-12*3600, 14*3600).Draw(t, "zone"))
		return time.Unix(rapid.Int64Range(0, 1<<36).Draw(t, "seconds"), rapid.Int64Range(0, 1e9-1).Draw(t, "nanoseconds")).In(zone)
	}
	return time.Unix(rapid.Int64Range(0, 1<<36).Draw(t, "seconds"), 0)
})

// anyValue draws a value of a stored type: every field, whatever it may hold.
func anyValue[V any]() *rapid.Generator[V] {
	return rapid.MakeCustom[V](rapid.MakeConfig{Types: map[reflect.Type]*rapid.Generator[any]{
		reflect.TypeFor[time.Time]():     anyTime.AsAny(),
		reflect.TypeFor[job.Phase]():     rapid.SampledFrom([]job.Phase{job.Profiling, job.Waiting, job.Restoring, job.Running}).AsAny(),
		reflect.TypeFor[time.Duration](): rapid.Custom(func(t *rapid.T) time.Duration { return time.Duration(rapid.Int64().Draw(t, "duration")) }).AsAny(),
	}})
}

// sameTimes compares times by what they are, wherever; UTC is checked apart.
var sameTimes = cmp.Transformer("nanoseconds", func(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) })

// checkUTC fails if a time is not in UTC or has a reading of the monotonic clock.
func checkUTC(t *rapid.T, times ...time.Time) {
	for _, at := range times {
		if at != at.Round(0).UTC() || at.IsZero() && at != (time.Time{}) {
			t.Fatalf("time %#v, want it in UTC without a clock reading", at)
		}
	}
}

// TestRoundTrip: what is stored is what is loaded, all of it.
func TestRoundTrip(tt *testing.T) {
	s := opened(tt, tt.TempDir())
	n := 0
	rapid.Check(tt, func(t *rapid.T) {
		n++
		id := job.ID(fmt.Sprint("j", n))
		want := &Job{
			Spec: new(anyValue[job.Spec]().Draw(t, "spec")), Status: anyValue[job.Status]().Draw(t, "status"),
			Batch: anyValue[job.BatchSize]().Draw(t, "batch"), Token: string(id), Request: anyRequest(t),
			Generation: rapid.IntRange(0, 9).Draw(t, "generation"), Failures: rapid.Int().Draw(t, "failures"),
		}
		want.Spec.ID = id
		must2(t, s.Accept(want))
		defer func() { // also where the test fails, and looks for a smaller case
			must(tt, s.End(id, Ending{Outcome: scheduler.Done, At: epoch}))
		}()
		compare(t, s, want, nil)

		ch := Change{Job: id, Generation: want.Generation, Status: anyValue[job.Status]().Draw(t, "new status"), Batch: anyValue[job.BatchSize]().Draw(t, "new batch"), Failures: rapid.Int().Draw(t, "new failures")}
		ch.Held = rapid.SliceOfNDistinct(rapid.IntRange(0, 1<<40), 1, 5, rapid.ID).Draw(t, "held")
		want.Status, want.Batch, want.Failures, want.Held = ch.Status, ch.Batch, ch.Failures, ch.Held
		must2(t, s.Commit(&Plan{Round: int64(n), Time: epoch, Changes: []Change{ch}}))
		want.Spec = new(anyValue[job.Spec]().Draw(t, "new spec"))
		want.Spec.ID = id
		must2(t, s.Describe(id, want.Spec))
		r := Report{At: anyTime.Draw(t, "at"), Report: anyReport(t, id)}
		must2(t, s.Report(id, r.At, &r.Report))
		c := Checkpoint{Step: 7, Progress: rapid.Float64Range(0, math.MaxFloat64).Draw(t, "progress"), At: anyTime.Draw(t, "at"), Bytes: math.MaxInt64, Checksum: rapid.String().Draw(t, "checksum"), Path: "p", Seconds: 0.1}
		want.Checkpoint, want.Failures = &c, rapid.Int().Draw(t, "failures since")
		must2(t, s.Checkpoint(id, c, want.Failures))
		compare(t, s, want, []Report{r})
	})
}

func must2(t *rapid.T, err error) {
	if err != nil {
		t.Fatal(err)
	}
}

// compare finds a job, the only one that has not ended, as it should be.
func compare(t *rapid.T, s *Store, want *Job, reports []Report) {
	st, err := s.Load()
	must2(t, err)
	if len(st.Jobs) != 1 {
		t.Fatalf("%d jobs, want 1", len(st.Jobs))
	}
	got := st.Jobs[0]
	if diff := cmp.Diff(want, got.Job, sameTimes); diff != "" {
		t.Fatal(diff)
	}
	if diff := cmp.Diff(reports, got.After, sameTimes); diff != "" {
		t.Fatal(diff)
	}
	status := &got.Job.Status
	checkUTC(t, status.Submitted, status.FirstStarted, status.Finished, status.Since, status.Reported)
	for _, r := range got.After {
		checkUTC(t, r.At)
	}
}

// anyRequest draws a request: bytes, not text.
func anyRequest(t *rapid.T) Request {
	text := rapid.Custom(func(t *rapid.T) string {
		return string(rapid.SliceOf(rapid.ByteRange(1, 255)).Draw(t, "bytes"))
	})
	r := Request{Dir: text.Draw(t, "directory")}
	r.Command = nonempty(rapid.SliceOf(text).Draw(t, "command"))
	r.Env = nonempty(rapid.SliceOf(text).Draw(t, "environment"))
	if rapid.Bool().Draw(t, "a user's") {
		r.User = &account.User{UID: rapid.Int().Draw(t, "user"), GID: 7, Groups: []int{7, 8}}
	}
	return r
}

// nonempty returns nil of no strings: a request does not tell these apart.
func nonempty(list []string) []string {
	if len(list) == 0 {
		return nil
	}
	return list
}

func anyReport(t *rapid.T, id job.ID) job.Report {
	r := anyValue[job.Report]().Draw(t, "report")
	r.Job = id
	for _, f := range []*float64{&r.CPUs, &r.GradSqr, &r.GradVar, &r.Progress} {
		*f = math.Abs(*f)
	}
	for _, d := range []*time.Duration{&r.Interval, &r.StepTime, &r.SyncTime} {
		*d &= math.MaxInt64
	}
	r.Memory &= math.MaxInt64
	for _, i := range []*int{&r.Batch.Local, &r.Batch.Accumulation, &r.Epoch} {
		*i &= math.MaxInt
	}
	return r
}

// TestDecode_refuses: what was not written by encode, or for other types, is not read.
func TestDecode_refuses(t *testing.T) {
	var st job.Status
	for body, want := range map[string]string{
		`{"Phase":1,"Faze":2}`: "unknown field",
		`{"Phase":1}}`:         `"}" after the end`,
		`{"Phase":1`:           "unexpected EOF",
		`{"Phase":256}`:        "cannot unmarshal",
	} {
		wants(t, decode(body, &st), want)
	}
	_, err := decodeStrings([]byte("a\x00b"))
	wants(t, err, "no zero byte at the end")
}
