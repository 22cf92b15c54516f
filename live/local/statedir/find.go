package statedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/oxgang/oxgang/live/account"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/model/job"
)

type item struct {
	name   string
	user   int // uid; -1: the scheduler's
	at     time.Time
	paths  []string
	folder string // deleted when empty
	bytes  int64
}

func find(s *store.Store, o *PruneOptions) (map[Category][]item, error) {
	known, err := s.Outlines()
	if err != nil {
		return nil, err
	}
	ids, err := o.Folders.Jobs()
	if err != nil {
		return nil, err
	}
	all := map[Category][]item{}
	var errs []error
	for _, id := range ids {
		if j, here := known[id]; !here || !j.Ended || o.Busy(id) {
			continue
		}
		logs, checkpoints, err := o.job(id, known[id])
		if err != nil {
			errs = append(errs, fmt.Errorf("job %s: nothing of it was deleted: %w", id, err))
			continue
		}
		if len(logs.paths) > 0 {
			logs.bytes += block
			all[Logs] = append(all[Logs], logs)
		}
		if checkpoints.bytes > 0 {
			all[Checkpoints] = append(all[Checkpoints], checkpoints)
		}
	}
	all[Journals], err = o.journals()
	return all, errors.Join(append(errs, err)...)
}

func (o *PruneOptions) job(id job.ID, j store.Outline) (logs, checkpoints item, err error) {
	folder := o.Folders.Job(id)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return logs, checkpoints, err
	}
	logs = item{name: string(id), user: user(j.User), at: o.counted(j.EndedAt, entries), folder: folder}
	checkpoints = logs
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		to := &logs
		if path == o.Folders.Checkpoints(id) && !empty(path) {
			to = &checkpoints
		}
		n, err := size(path)
		if err != nil {
			return logs, checkpoints, err
		}
		to.paths, to.bytes = append(to.paths, path), to.bytes+n
	}
	return logs, checkpoints, nil
}

func user(u *account.User) int {
	if u == nil {
		return -1
	}
	return u.UID
}

// counted returns the time from which an age counts: a time, or a later one at which the clock was set or the job's
// record was written. A time in the future is from before the clock was set back.
func (o *PruneOptions) counted(at time.Time, entries []fs.DirEntry) time.Time {
	for _, e := range entries {
		if info, err := e.Info(); err == nil && e.Name() == recordFile && info.ModTime().After(at) {
			at = info.ModTime()
		}
	}
	if at.Before(o.ClockSet) || at.After(o.Now) && !o.ClockSet.IsZero() {
		return o.ClockSet
	}
	return at
}

func empty(dir string) bool {
	all, err := os.ReadDir(dir)
	return err == nil && len(all) == 0
}

func (o *PruneOptions) journals() ([]item, error) {
	entries, err := os.ReadDir(o.Journals)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	written := ""
	if o.Journal != nil {
		written = o.Journal()
	}
	var all []item
	for _, e := range entries {
		path := filepath.Join(o.Journals, e.Name())
		if filepath.Ext(path) != ".oxj" || path == written || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		all = append(all, item{name: e.Name(), at: o.counted(info.ModTime(), nil), paths: []string{path}, bytes: blocks(info)})
	}
	return all, nil
}

const block = 4 << 10

func blocks(info fs.FileInfo) int64 {
	return max(1, (info.Size()+block-1)/block) * block
}
