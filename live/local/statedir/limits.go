package statedir

import (
	"errors"
	"fmt"
	"maps"
	"time"
)

// A Category is one category of what jobs and schedulers leave.
type Category string

// The categories.
const (
	Logs        Category = "logs"        // folders of jobs without their checkpoints
	Checkpoints Category = "checkpoints" // those of the folders of jobs
	Journals    Category = "journals"    // and parts of them, but for the one that is being written
	Reports     Category = "reports"     // what was learned of jobs; in the database, which bounds their number anyway
)

// Categories returns all categories, in the order in which they are shown.
func Categories() []Category { return []Category{Logs, Checkpoints, Journals, Reports} }

// A Limit says how much is kept of one category: nothing older than Age, and of the rest the newest that
// take at most Bytes. 0 is no limit. Age counts from the end of the job, that of a journal from its
// last line.
type Limit struct {
	Age   time.Duration `json:"age"`   // nanoseconds
	Bytes int64         `json:"bytes"` // in blocks of 4 KiB, as file systems count; reports have none
}

// Limits are those of categories. A category without one is kept for ever.
type Limits map[Category]Limit

// Default returns the defaults. Checkpoints have no limit: a trained model is what its job was for.
func Default() Limits {
	const day = 24 * time.Hour
	return Limits{Logs: {Age: 30 * day, Bytes: 1 << 30}, Journals: {Age: 30 * day, Bytes: 1 << 30}, Reports: {Age: 90 * day}}
}

// With returns limits of which others replace those of their categories.
func (l Limits) With(others Limits) Limits {
	all := make(Limits, len(l)+len(others))
	maps.Copy(all, l)
	maps.Copy(all, others)
	return all
}

// Validate returns an error that joins all that is wrong with l.
func (l Limits) Validate() error {
	var errs []error
	for category, limit := range l {
		switch category {
		case Logs, Checkpoints, Journals:
		case Reports:
			if limit.Bytes != 0 {
				errs = append(errs, errors.New("reports: a limit in bytes, want an age only"))
			}
		default:
			errs = append(errs, fmt.Errorf("category %.40q, want one of %v", category, Categories()))
		}
		if limit.Age < 0 || limit.Bytes < 0 {
			errs = append(errs, fmt.Errorf("%s: age %v, %d bytes, want at least 0", category, limit.Age, limit.Bytes))
		}
	}
	return errors.Join(errs...)
}
