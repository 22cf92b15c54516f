package oxgang

import (
	"math"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/memory"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/registry"
)

func cappedBy(t *testing.T, text string) Options {
	t.Helper()
	o := DefaultOptions()
	var err error
	if o.Caps, err = ParseCaps(text); err != nil {
		t.Fatal(err)
	}
	return o
}

// User a has 2 GPU-hours. After them its jobs wait with a reason until the next month; its running job and the jobs of
// others go on. Each minute counts once, also the last one of a job.
func TestPlan_hard_cap(t *testing.T) {
	w := newSmall(t, cappedBy(t, "user:a=2"), 2, 8)
	w.s.Now = time.Date(2026, 1, 31, 23, 30, 0, 0, time.UTC)
	w.submit("a1", 8, 10*time.Minute, ofUser("a", 1))
	w.expect("below the cap", map[job.ID]int{"a1": 8})
	for len(w.s.Jobs) > 0 {
		w.round()
	}
	w.submit("a2", 4, 90*time.Minute, ofUser("a", 1))
	w.round()
	if got := w.p.caps.used[0]; math.Abs(got-8*600) > 0.01 {
		t.Errorf("a job of 8 GPUs and 10 min counts %.2f GPU-seconds, want 4800", got)
	}
	for w.s.Now.Before(time.Date(2026, 1, 31, 23, 55, 0, 0, time.UTC)) {
		w.round()
	}
	w.submit("a3", 4, time.Hour, ofUser("a", 1))
	w.submit("b", 4, time.Hour, ofUser("b", 1))
	w.expect("used up", map[job.ID]int{"a2": 4, "b": 4})
	why := w.last.Jobs[w.before.Index("a3")].Why
	if why.Kind != policy.WaitCap || why.Config.GPUType != "user a in 2026-01" || why.Limit != 2 || why.Value < 2 {
		t.Errorf("a3 waits: %v, %+v", why.Kind, why)
	}
	for w.s.Now.Before(time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)) {
		w.expect("still used up", map[job.ID]int{"a2": 4, "b": 4})
	}
	w.expect("the next month", map[job.ID]int{"a2": 4, "a3": 4, "b": 4})
}

// A round that spans two months counts only its part in the new one.
func TestCaps_split_a_round_at_the_month(t *testing.T) {
	w := newSmall(t, cappedBy(t, "user:a=2"), 1, 8)
	w.s.Now = time.Date(2026, 1, 31, 23, 59, 45, 0, time.UTC)
	w.submit("a", 8, time.Hour, ofUser("a", 1))
	w.round()
	w.round()
	if got := w.p.caps.used[0]; math.Abs(got-8*45) > 0.01 {
		t.Errorf("%.2f GPU-seconds after 45 s of the new month, want 360", got)
	}
}

// An elastic job of a used-up cap keeps its GPUs, and does not grow.
func TestPlan_hard_cap_stops_growth(t *testing.T) {
	elastic := func(s *job.Spec) { s.Adaptivity, s.MinGPUs, s.MaxGPUs = job.StrongScaling, 1, 32 }
	for cap, grows := range map[string]bool{"user:a=0.1": false, "user:a=1000": true} {
		w := newSmall(t, cappedBy(t, cap), 4, 8)
		w.submit("a", 4, 9*time.Hour, ofUser("a", 1), elastic)
		w.submit("b", 24, 5*time.Minute, ofUser("b", 1))
		first := w.round()["a"]
		for range 10 {
			w.round()
		}
		if now := w.round()["a"]; now > first != grows || now < first {
			t.Errorf("cap %s: %d GPUs, later %d", cap, first, now)
		}
	}
}

// Under a soft cap that is half used, the weight is half; used up, jobs still use free GPUs.
func TestPlan_soft_cap(t *testing.T) {
	o := cappedBy(t, "queue:vision=100 soft")
	for _, c := range []struct{ used, share float64 }{{0, 1}, {50, 0.5}, {1000, leastLeft}} {
		o.Caps[0].Used = c.used
		w := newSmall(t, o, 1, 8)
		w.submit("v", 8, time.Hour, func(s *job.Spec) { s.Queue = "vision" })
		w.expect("alone", map[job.ID]int{"v": 8})
		if terms, ok := w.p.Weighed("v"); !ok || math.Abs(terms.Share-c.share) > 0.001 {
			t.Errorf("%v GPU-hours used: share %v, want %v", c.used, terms.Share, c.share)
		}
	}
}

// After a restart, use goes on from cap-used, with the time that a running job held its GPUs since.
func TestCaps_continue_after_a_restart(t *testing.T) {
	w := newSmall(t, cappedBy(t, "user:a=10"), 1, 8)
	w.submit("a", 8, 9*time.Hour, ofUser("a", 1))
	for range 60 {
		w.round()
	}
	at, used := w.p.caps.at, w.p.caps.used[0]
	p, err := registry.New("oxgang", map[string]string{"cap": "user:a=10", "cap-used": FormatUse(at, []float64{used / 3600})})
	if err != nil {
		t.Fatal(err)
	}
	w.p = p.(*Policy)
	w.s.Now = at.Add(30 * time.Minute)
	w.round()
	if got := w.p.caps.used[0]; math.Abs(got-used-8*1800) > 0.01 {
		t.Errorf("%.1f GPU-seconds, want %.1f and half an hour of 8 GPUs", got, used)
	}
	image, err := memory.Take(w.p)
	if err != nil {
		t.Fatal(err)
	}
	other, _ := New(cappedBy(t, "user:a=10"))
	if err := image.Restore(other); err != nil || other.caps.used[0] != w.p.caps.used[0] || !other.caps.at.Equal(w.s.Now.Add(-time.Minute)) {
		t.Errorf("restored: %+v, %v", other.caps, err)
	}
}

func TestParseCaps_rejects(t *testing.T) {
	for _, text := range []string{"user=5", "team:a=5", "user:a", "user:a=-1", "user:a=x", "user:=3", "user:a=Inf"} {
		if all, err := ParseCaps(text); err == nil {
			t.Errorf("%q: %+v", text, all)
		}
	}
	if _, err := registry.New("oxgang", map[string]string{"cap": "user:a=1", "cap-used": "2026-01-01T00:00:00Z 1 2"}); err == nil {
		t.Error("two uses for one cap")
	}
}
