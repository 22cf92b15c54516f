package statedir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/model/job"
)

type item struct {
	name   string
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
	for _, id := range ids {
		if j, here := known[id]; !here || !j.Ended || o.Busy(id) {
			continue
		}
		logs, checkpoints, err := o.job(id, known[id].EndedAt)
		if err != nil {
			return nil, err
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
	return all, err
}

// job returns the files of an ended job. An empty checkpoint folder counts as logs.
func (o *PruneOptions) job(id job.ID, ended time.Time) (logs, checkpoints item, err error) {
	folder := o.Folders.Job(id)
	logs = item{name: string(id), at: ended, folder: folder}
	checkpoints = logs
	entries, err := os.ReadDir(folder)
	if err != nil {
		return logs, checkpoints, err
	}
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
		all = append(all, item{name: e.Name(), at: info.ModTime(), paths: []string{path}, bytes: blocks(info)})
	}
	return all, nil
}

func size(path string) (int64, error) {
	var total int64
	err := filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil {
			total += blocks(info)
		}
		return err
	})
	return total, err
}

const block = 4 << 10

func blocks(info fs.FileInfo) int64 {
	return max(1, (info.Size()+block-1)/block) * block
}
