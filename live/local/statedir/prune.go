package statedir

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/model/job"
)

// PruneOptions state what Prune deletes.
type PruneOptions struct {
	Limits   Limits
	Folders  *Folders
	Journals string // directory of journals
	// Journal returns the path of the current journal part; nil: none. It is called after the directory was read,
	// so that no later part is deleted.
	Journal func() string
	// Busy reports whether a job has not ended or still has processes.
	Busy func(job.ID) bool
	Now  time.Time
	// ClockSet is when the machine's clock was last set; ages count from then at the earliest. Zero: never.
	ClockSet time.Time
	DryRun   bool // delete nothing
}

// An Amount states how much data of a category was deleted, or would be in a dry run.
type Amount struct {
	Category Category `json:"category"`
	Count    int      `json:"count"` // number of jobs, journals or reports
	Bytes    int64    `json:"bytes"` // in blocks of 4 KiB; 0 for reports
}

// Prune deletes data beyond the limits, and returns the amounts. After a crash, the next Prune continues. If the files
// of a job cannot be deleted, Prune continues with other jobs, and returns an error that names the job.
func Prune(s *store.Store, o *PruneOptions) ([]Amount, error) {
	found, err := find(s, o)
	if found == nil {
		return nil, fmt.Errorf("prune: %w", err)
	}
	var amounts []Amount
	errs := []error{err}
	for _, category := range []Category{Logs, Checkpoints, Journals} {
		old := surplus(found[category], o.Limits[category], o.Now)
		if !o.DryRun {
			errs = append(errs, remove(s, category, old))
		}
		amounts = append(amounts, sum(category, old))
	}
	reports, err := o.reports(s)
	if err := errors.Join(append(errs, err)...); err != nil {
		return append(amounts, reports), fmt.Errorf("prune: %w", err)
	}
	return append(amounts, reports), nil
}

func (o *PruneOptions) reports(s *store.Store) (Amount, error) {
	age := o.Limits[reports].Age
	if age == 0 || o.Now.Sub(o.ClockSet) < age {
		return Amount{Category: reports}, nil
	}
	n, err := s.CountReports(o.Now.Add(-age))
	if err == nil && !o.DryRun && n > 0 {
		err = s.ForgetReports(o.Now.Add(-age))
	}
	return Amount{Category: reports, Count: n}, err
}

// surplus returns the items that exceed a limit, which applies to each user separately.
func surplus(all []item, l Limit, now time.Time) []item {
	by := map[int][]item{}
	for i := range all {
		by[all[i].user] = append(by[all[i].user], all[i])
	}
	var old []item
	for _, uid := range slices.Sorted(maps.Keys(by)) {
		old = append(old, oldest(by[uid], l, now)...)
	}
	return old
}

func oldest(all []item, l Limit, now time.Time) []item {
	slices.SortFunc(all, func(a, b item) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(stem(a.name), stem(b.name))) })
	total := sum("", all).Bytes
	n := 0
	for n < len(all) && (l.Age > 0 && now.Sub(all[n].at) > l.Age || l.Bytes > 0 && total > l.Bytes) {
		total -= all[n].bytes
		n++
	}
	return all[:n]
}

func stem(name string) string { return strings.TrimSuffix(name, filepath.Ext(name)) }

func remove(s *store.Store, category Category, all []item) error {
	if category == Logs {
		ids := make([]job.ID, len(all))
		for i := range all {
			ids[i] = job.ID(all[i].name)
		}
		if err := s.Forget(ids); err != nil {
			return err
		}
	}
	var errs []error
	for i := range all {
		for _, path := range all[i].paths {
			errs = append(errs, removeAll(path))
		}
		if all[i].folder != "" {
			_ = os.Remove(all[i].folder) // if it is empty
		}
	}
	return errors.Join(errs...)
}

func sum(category Category, all []item) Amount {
	a := Amount{Category: category, Count: len(all)}
	for i := range all {
		a.Bytes += all[i].bytes
	}
	return a
}
