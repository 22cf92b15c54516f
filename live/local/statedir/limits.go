package statedir

import (
	"errors"
	"fmt"
	"maps"
	"time"
)

// A Category is a kind of data that is stored after a job has ended, such as its log.
type Category string

// The categories.
const (
	Logs        Category = "logs"        // folders of jobs without checkpoints
	Checkpoints Category = "checkpoints" // of jobs
	Journals    Category = "journals"    // except the current one
	reports     Category = "reports"     // in the database
)

func categories() []Category { return []Category{Logs, Checkpoints, Journals, reports} }

// A Limit states how much data of ended jobs is kept: nothing older than Age, and at most Bytes for each user, the
// newest first. 0 means no limit. Age counts from the end of the job, or from the last line of a journal.
type Limit struct {
	Age   time.Duration `json:"age"`   // nanoseconds
	Bytes int64         `json:"bytes"` // in blocks of 4 KiB; not for reports
}

// Limits has a Limit for each category of data. Categories without one are kept for ever.
type Limits map[Category]Limit

// Default returns the default limits. Checkpoints, the results of jobs, are kept for ever.
func Default() Limits {
	const day = 24 * time.Hour
	return Limits{Logs: {Age: 30 * day, Bytes: 1 << 30}, Journals: {Age: 30 * day, Bytes: 1 << 30}, reports: {Age: 90 * day}}
}

// With returns a copy of l in which replacements override the limits of the same category.
func (l Limits) With(replacements Limits) Limits {
	all := make(Limits, len(l)+len(replacements))
	maps.Copy(all, l)
	maps.Copy(all, replacements)
	return all
}

// Validate returns an error that joins all that is wrong with l.
func (l Limits) Validate() error {
	var errs []error
	for category, limit := range l {
		switch category {
		case Logs, Checkpoints, Journals:
		case reports:
			if limit.Bytes != 0 {
				errs = append(errs, errors.New("reports: set an age, not bytes"))
			}
		default:
			errs = append(errs, fmt.Errorf("category %.40q, want one of %v", category, categories()))
		}
		if limit.Age < 0 || limit.Bytes < 0 {
			errs = append(errs, fmt.Errorf("%s: age %v, %d bytes, want at least 0", category, limit.Age, limit.Bytes))
		}
	}
	return errors.Join(errs...)
}
