package statedir

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/model/job"
)

// ErrLost reports a database that lacks jobs, starts or ends that the folders of jobs show.
var ErrLost = errors.New("history is lost")

type lost struct {
	id  job.ID
	why string
}

// Check compares a database with the folders of its jobs. It returns an error that wraps ErrLost if the database lacks
// a job, a start or an end.
func Check(s *store.Store, f *Folders) error {
	known, err := s.Outlines()
	if err != nil {
		return err
	}
	found, err := scan(f, known)
	if err != nil {
		return err
	}
	var all []string
	for _, l := range missing(known, found) {
		all = append(all, fmt.Sprintf("job %s: %s", l.id, l.why))
	}
	if len(all) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %w: the database knows less than the folders in jobs/ (%s); nothing was changed. "+
		"Restore a backup of oxgang.db, or run \"oxgang serve --recover\" to rebuild the jobs from their folders",
		f.Dir, ErrLost, shorten(all))
}

func shorten(all []string) string {
	if n := len(all) - 3; n > 0 {
		all = append(slices.Clone(all[:3]), fmt.Sprintf("and %d more", n))
	}
	return strings.Join(all, "; ")
}

func missing(known map[job.ID]store.Outline, found []*trace) []lost {
	var all []lost
	for _, t := range found {
		j, here := known[t.id]
		switch {
		case !here && (t.record != nil || t.last > 0):
			all = append(all, lost{t.id, "the database does not know it"})
		case !here: // it was never accepted
		case t.last > j.Generation:
			all = append(all, lost{t.id, fmt.Sprintf("start %d happened, but the database knows only %d", t.last, j.Generation)})
		case t.record != nil && t.record.Ended != nil && !j.Ended:
			all = append(all, lost{t.id, "it has ended, but the database does not know"})
		}
	}
	return all
}

type trace struct {
	id     job.ID
	record *record // nil: none, or the database knows that the job has ended
	last   int     // last started generation; 0: none
}

func scan(f *Folders, known map[job.ID]store.Outline) ([]*trace, error) {
	ids, err := f.Jobs()
	if err != nil {
		return nil, err
	}
	launched, err := f.Launched()
	if err != nil {
		return nil, err
	}
	last := make(map[job.ID]int, len(ids))
	for _, g := range launched {
		last[g.Job] = max(last[g.Job], g.Number)
	}
	all := make([]*trace, len(ids))
	for i, id := range ids {
		t := &trace{id: id, last: last[id]}
		if !known[id].Ended {
			if t.record, err = readRecord(f, id); err != nil {
				return nil, err
			}
		}
		all[i] = t
	}
	return all, nil
}
