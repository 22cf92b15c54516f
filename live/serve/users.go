package serve

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/oxgang/oxgang/live/account"
	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/live/local"
	"github.com/oxgang/oxgang/live/local/statedir"
)

type users struct {
	group  int // gid
	quotas local.Quotas
}

func findUsers(o *Options) (*users, error) {
	if o.Group == "" {
		return nil, nil //nolint:nilnil // no other users
	}
	if os.Geteuid() != 0 {
		return nil, fmt.Errorf("group %s: only root can run jobs as other users: run serve as root, or without --group to run all jobs as %s", o.Group, account.Name(os.Geteuid()))
	}
	gid, err := account.GroupID(o.Group)
	if err != nil {
		return nil, err
	}
	u := &users{gid, local.Quotas{Of: map[int]int{}}}
	for name, most := range o.Quotas {
		if err := u.limit(name, most); err != nil {
			return nil, err
		}
	}
	return u, passable(o.Dir)
}

func (u *users) limit(name string, most int) error {
	if most < 1 || most > maxSlots {
		return fmt.Errorf("quota of %s: %d GPUs, want 1 to %d", name, most, maxSlots)
	}
	if name == "*" {
		u.quotas.Others = most
		return nil
	}
	uid, err := account.ID(name)
	if err != nil {
		return fmt.Errorf("quota: %w", err)
	}
	u.quotas.Of[uid] = most
	return nil
}

func passable(dir string) error {
	for at := filepath.Dir(dir); ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err != nil {
			return fmt.Errorf("state directory: %w", err)
		}
		if info.Mode().Perm()&0o001 == 0 {
			return fmt.Errorf("state directory %s: users cannot reach it, because %s has mode %04o: use another one, such as --state /var/lib/oxgang", dir, at, info.Mode().Perm())
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	if err := closed(dir); err != nil {
		return err
	}
	jobs := statedir.Folder(dir, "")
	return errors.Join(os.MkdirAll(jobs, 0o700), os.Chmod(jobs, statedir.Passable), os.Chmod(dir, statedir.Passable))
}

// closed leaves the content of a state directory to its owner, except directories of jobs.
func closed(dir string) error {
	all, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	for _, e := range all {
		if e.Name() == filepath.Base(statedir.Folder(dir, "")) {
			continue // it contains running jobs
		}
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() && !info.IsDir() {
			continue // a socket, which is created again
		}
		if err := os.Chmod(filepath.Join(dir, e.Name()), info.Mode().Perm()&^0o077); err != nil {
			return fmt.Errorf("state directory: %w", err)
		}
	}
	return nil
}

func (c *controller) access() (commands, jobs control.Access) {
	if c.users == nil {
		return control.Private(), control.Private()
	}
	return control.OfGroup(c.users.group), control.Public()
}
