package statedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/oxgang/oxgang/live/account"
	"github.com/oxgang/oxgang/model/job"
)

// Folders returns the paths of the directories that a state directory has for each job.
type Folders struct {
	Dir      string // state directory, absolute
	Identity string // unique on this machine
}

// A Generation identifies one start (launch) of a job.
type Generation struct {
	Job    job.ID
	Number int // number of the start, from 1
}

// Folder returns the path of the directory of job id in the state directory dir.
func Folder(dir string, id job.ID) string { return filepath.Join(dir, "jobs", string(id)) }

// Job returns the directory of a job.
func (f *Folders) Job(id job.ID) string { return Folder(f.Dir, id) }

// Log returns the path of the file with the output of a job's workers.
func (f *Folders) Log(id job.ID) string { return filepath.Join(f.Job(id), "log") }

// Checkpoints returns the directory of a job's checkpoints.
func (f *Folders) Checkpoints(id job.ID) string { return f.Job(id) + "/checkpoints" }

// Make creates the directories of a new job. It returns fs.ErrExist, wrapped, if they exist and belong to another job.
func (f *Folders) Make(id job.ID, u *account.User) error {
	if err := os.MkdirAll(filepath.Join(f.Dir, "jobs"), 0o700); err != nil {
		return err
	}
	err := os.Mkdir(f.Job(id), 0o700)
	if errors.Is(err, fs.ErrExist) && f.unused(id) {
		err = os.MkdirAll(f.Checkpoints(id), 0o700)
	} else if err == nil {
		err = os.Mkdir(f.Checkpoints(id), 0o700)
	}
	if err != nil {
		return err
	}
	return f.give(id, u)
}

// Passable is the mode of a directory that other users can enter, but neither list nor change.
const Passable = 0o711

// give makes user u, unless nil, the owner of a job's checkpoints. The scheduler still owns the folder, so that the
// user cannot replace other files in it.
func (f *Folders) give(id job.ID, u *account.User) error {
	if u == nil {
		return nil
	}
	root, err := os.OpenRoot(f.Job(id))
	if err != nil {
		return err
	}
	defer root.Close()
	return errors.Join(root.Chmod(".", Passable), fs.WalkDir(root.FS(), filepath.Base(f.Checkpoints(id)), func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, root.Lchown(path, u.UID, u.GID))
	}))
}

func (f *Folders) unused(id job.ID) bool {
	all, err := os.ReadDir(f.Job(id))
	if err != nil || len(all) > 1 || len(all) == 1 && all[0].Name() != "checkpoints" {
		return false
	}
	saved, err := os.ReadDir(f.Checkpoints(id))
	return len(saved) == 0 && (err == nil || errors.Is(err, fs.ErrNotExist))
}

// Generation returns the path of the directory of one start of a job.
func (f *Folders) Generation(g Generation) string {
	return filepath.Join(f.Job(g.Job), strconv.Itoa(g.Number))
}

// Launched returns all starts of jobs that have launch files, grouped by job.
func (f *Folders) Launched() ([]Generation, error) {
	jobs, err := f.Jobs()
	if err != nil {
		return nil, err
	}
	var all []Generation
	for _, id := range jobs {
		numbers, err := subfolders(f.Job(id))
		if err != nil {
			return nil, err
		}
		for _, text := range numbers {
			number, err := strconv.Atoi(text)
			if err != nil {
				continue
			}
			g := Generation{Job: id, Number: number}
			if _, err := os.Lstat(filepath.Join(f.Generation(g), "launch.json")); err == nil {
				all = append(all, g)
			}
		}
	}
	return all, nil
}

// Jobs returns the jobs with a folder.
func (f *Folders) Jobs() ([]job.ID, error) {
	names, err := subfolders(filepath.Join(f.Dir, "jobs"))
	ids := make([]job.ID, len(names))
	for i, name := range names {
		ids[i] = job.ID(name)
	}
	return ids, err
}

func subfolders(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// Tag returns a text, unique on this machine, that marks the processes of one start of a job.
func (f *Folders) Tag(g Generation) string {
	return fmt.Sprintf("%s/%s/%d", f.Identity, g.Job, g.Number)
}
