package serve

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/oxgang/oxgang/live/driver"
	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/policy/oxgang"
	"github.com/oxgang/oxgang/scheduler"
	"github.com/oxgang/oxgang/scheduler/journal"
	"github.com/oxgang/oxgang/scheduler/ledger"
)

// A monthUse is the use of GPUs in a period, from the journals of earlier runs.
type monthUse struct {
	ledger.Period
	hours   []float64 // GPU-hours of each cap
	covered []ledger.Period
	record  *ledger.Recorder // nil before the first journal
	last    time.Time        // of the last record
	first   time.Time        // of the present journal
}

// Event implements scheduler.Observer.
func (u *monthUse) Event(now time.Time, ev scheduler.Event) {
	u.see(now)
	u.record.Event(now, ev)
}

// Round implements scheduler.Observer.
func (u *monthUse) Round(s *policy.Snapshot, p *policy.Plan, acts []scheduler.Action) {
	u.see(s.Now)
	u.record.Round(s, p, acts)
}

func (u *monthUse) see(now time.Time) {
	if u.first.IsZero() {
		u.first = now
	}
	u.last = now
}

// useOf reads the journals in a folder, and returns what each cap counted in the month until now.
func useOf(folder string, caps []oxgang.Cap, now time.Time) (*monthUse, error) {
	u := &monthUse{Period: ledger.Period{From: oxgang.MonthOf(now), To: now}, hours: make([]float64, len(caps))}
	files, err := filepath.Glob(filepath.Join(folder, "*.oxj")) // in the order of their starts
	if err != nil {
		return nil, err
	}
	book := func(e *ledger.Entry) {
		if e.Job == nil || e.Use == ledger.Profiling {
			return
		}
		for i := range caps {
			if caps[i].Has(e.Job) {
				u.hours[i] += e.Time.Hours()
			}
		}
	}
	seen := map[string]bool{}
	for _, file := range files {
		parts, err := driver.JournalParts(file)
		if err != nil {
			return nil, err
		}
		if info, err := os.Stat(parts[len(parts)-1]); seen[parts[0]] || err == nil && info.ModTime().Before(u.From) {
			continue
		}
		seen[parts[0]] = true
		if err := u.read(parts, book); err != nil {
			return nil, fmt.Errorf("%s: %w", parts[0], err)
		}
	}
	if u.record != nil {
		u.record.Close()
	}
	return u, nil
}

func (u *monthUse) read(parts []string, book func(*ledger.Entry)) error {
	f, err := driver.OpenJournal(func(f *os.File) io.ReaderAt { return f }, parts...)
	if err != nil {
		return err
	}
	defer f.Close()
	j, err := f.Start()
	if err != nil {
		return err
	}
	h := j.Header()
	u.first = h.Start
	if h.From > 0 {
		u.first = time.Time{} // its first parts are missing
	}
	if u.record == nil {
		u.record = ledger.NewRecorderOf(u.Period, u.first, h.Cluster, book)
	} else {
		u.record.Again(h.Start, h.Cluster)
	}
	u.last = h.Start
	if err = j.Show(u); errors.Is(err, journal.ErrTruncated) {
		err = nil // it crashed
	}
	u.covered = append(u.covered, ledger.Period{From: u.first, To: u.last})
	return err
}

// resumeCaps sets the setting cap-used of the policy, unless a user set it, from the journals of this month.
func (c *controller) resumeCaps(now time.Time) error {
	if c.o.Policy != "oxgang" || c.o.Settings["cap"] == "" || c.o.Settings["cap-used"] != "" {
		return nil
	}
	caps, err := oxgang.ParseCaps(c.o.Settings["cap"])
	if err != nil {
		return err
	}
	u, err := useOf(JournalFolder(c.o.Dir), caps, now)
	if err != nil {
		return fmt.Errorf("caps: %w", err)
	}
	for _, p := range u.Missing(u.covered) {
		c.say("caps: no journal has records from %s to %s; of that time only jobs count that ran before and after it", p.From.Format(time.RFC3339), p.To.Format(time.RFC3339))
	}
	at := u.last
	if at.Before(u.From) {
		at = u.From
	}
	c.o.Settings["cap-used"] = oxgang.FormatUse(at, u.hours)
	return nil
}
