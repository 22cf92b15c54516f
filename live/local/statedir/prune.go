package statedir

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/model/job"
)

// PruneOptions say what is pruned.
type PruneOptions struct {
	Limits   Limits
	Folders  *Folders
	Journals string // the directory of journals
	// Journal returns the path of the journal, or the part of one, that is being written; nil: none is. It is
	// asked after the directory was read, so that no later one is deleted.
	Journal func() string
	// Busy reports whether a job has not ended, or still has processes.
	Busy   func(job.ID) bool
	Now    time.Time
	DryRun bool // find out what would be deleted, and delete nothing
}

// An Amount is how much was deleted of one category, or would be.
type Amount struct {
	Category Category `json:"category"`
	Count    int      `json:"count"` // jobs, journals or reports
	Bytes    int64    `json:"bytes"` // in blocks of 4 KiB; 0 of reports, whose room the database uses again
}

// Prune deletes what the limits do not keep, and returns how much that was of each category. The database
// forgets the bulk of a job before its logs are deleted, so that after a crash the next Prune deletes
// the rest. What cannot be deleted does not keep the rest from it; the errors are joined.
func Prune(s *store.Store, o *PruneOptions) ([]Amount, error) {
	found, err := find(s, o)
	if err != nil {
		return nil, fmt.Errorf("prune: %w", err)
	}
	var amounts []Amount
	var errs []error
	for _, category := range []Category{Logs, Checkpoints, Journals} {
		old := surplus(found[category], o.Limits[category], o.Now)
		if !o.DryRun {
			errs = append(errs, remove(s, category, old))
		}
		amounts = append(amounts, sum(category, old))
	}
	reports, err := o.reports(s)
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, fmt.Errorf("prune: %w", err)
	}
	return append(amounts, reports), nil
}

// reports drops the reports of jobs that ended too long ago.
func (o *PruneOptions) reports(s *store.Store) (Amount, error) {
	age := o.Limits[Reports].Age
	if age == 0 {
		return Amount{Category: Reports}, nil
	}
	n, err := s.CountReports(o.Now.Add(-age))
	if err == nil && !o.DryRun && n > 0 {
		err = s.ForgetReports(o.Now.Add(-age))
	}
	return Amount{Category: Reports, Count: n}, err
}

// surplus returns those items that a limit does not keep, oldest first.
func surplus(all []item, l Limit, now time.Time) []item {
	slices.SortFunc(all, func(a, b item) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(stem(a.name), stem(b.name))) })
	total := sum("", all).Bytes
	n := 0
	for n < len(all) && (l.Age > 0 && now.Sub(all[n].at) > l.Age || l.Bytes > 0 && total > l.Bytes) {
		total -= all[n].bytes
		n++
	}
	return all[:n]
}

// stem returns a name without its extension, so that the first part of a journal comes before the second.
func stem(name string) string { return strings.TrimSuffix(name, filepath.Ext(name)) }

// remove deletes items of one category.
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
			errs = append(errs, os.RemoveAll(path)) // follows no link
		}
		if all[i].folder != "" {
			_ = os.Remove(all[i].folder) // that of a job, if nothing is left in it
		}
	}
	return errors.Join(errs...)
}

// sum returns how much items are.
func sum(category Category, all []item) Amount {
	a := Amount{Category: category, Count: len(all)}
	for i := range all {
		a.Bytes += all[i].bytes
	}
	return a
}
