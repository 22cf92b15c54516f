//go:build linux

package supervisor

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const runVariable = "OXGANG_RUN"

const sweepLimit = 10 * time.Second

// Sweep kills the processes that dead supervisors left behind: those whose environment has OXGANG_RUN=tag or a tag
// below it ("a" is above "a/j1/3"), and their descendants, except descendants of living supervisors. root is the
// directory of a generation, or contains generations at most three levels below. Sweep returns when these processes
// have ended, or an error that names those that have not. A detached process without its environment is found only by
// its cgroup, and Sweep does not wait for it.
func Sweep(root, tag string) error {
	if tag == "" {
		return errors.New("supervisor: sweep: no tag")
	}
	left := map[process]bool{} // killed but not gone; it still holds files and devices
	clean := 0                 // consecutive readings without an orphan; a process has no environment while it changes its program
	for end := time.Now().Add(sweepLimit); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		found, err := sweepOnce(root, tag)
		if err != nil {
			return fmt.Errorf("supervisor: sweep %s: %w", tag, err)
		}
		for _, o := range found {
			left[o.process] = true
		}
		maps.DeleteFunc(left, func(p process, _ bool) bool { return !p.alive() })
		if len(found)+len(left) > 0 {
			clean = 0
		} else if clean++; clean == 2 {
			return nil
		}
	}
	return fmt.Errorf("supervisor: sweep %s: %v still run %v after SIGKILL", tag, slices.Collect(maps.Keys(left)), sweepLimit)
}

type orphan struct {
	process
	tag string
}

// sweepOnce lists processes before it tests locks. So if the lock of a listed process is free, its supervisor is
// gone.
func sweepOnce(root, tag string) ([]orphan, error) {
	found, err := listTagged(tag)
	if err != nil {
		return nil, err
	}
	kept, err := living(root, tag)
	if err != nil {
		return nil, err
	}
	var left []orphan
	var errs []error
	for _, o := range found {
		if !kept[o.tag] {
			left = append(left, o)
			errs = append(errs, signalProcess(o.process, unix.SIGKILL))
		}
	}
	return left, errors.Join(errs...)
}

func tagged(tag string) ([]orphan, error) {
	all, err := processes()
	if err != nil {
		return nil, err
	}
	runs := map[int]string{}
	var found []orphan
	for pid, p := range all {
		// Checked after its environment was read: the pid was not reused.
		if run := runOf(pid); under(run, tag) && p.alive() {
			runs[pid] = run
			found = append(found, orphan{p.process, run})
		}
	}
	for pid, run := range runs {
		for _, p := range below(all, func(parent int) bool { return parent == pid }) {
			if _, has := runs[p.PID]; !has && !p.zombie {
				found = append(found, orphan{p.process, run})
			}
		}
	}
	return found, nil
}

func runOf(pid int) string {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return ""
	}
	for e := range bytes.SplitSeq(env, []byte{0}) {
		if run, ok := bytes.CutPrefix(e, []byte(runVariable+"=")); ok {
			return string(run)
		}
	}
	return ""
}

func under(run, tag string) bool {
	return run != "" && tag != "" && (run == tag || strings.HasPrefix(run, tag+"/"))
}

func living(root, tag string) (map[string]bool, error) {
	kept := map[string]bool{}
	for _, dir := range generations(root, 3) {
		var l Launch
		_, err := readJSON(filepath.Join(dir, launchFile), &l)
		begun := unbegun(dir) != nil // before the lock: a generation that begins now is not dead
		alive, errLock := held(dir)
		switch {
		case errLock != nil:
			return nil, errLock
		case err != nil && alive:
			return nil, err // its processes could not be spared
		case alive:
			kept[l.Tag] = true
		case err == nil && begun && under(l.Tag, tag) && l.Cgroup != "":
			emptyGroup(&l)
		}
	}
	return kept, nil
}

func emptyGroup(l *Launch) {
	g := &group{path: groupPath(l)}
	if _, err := os.Stat(g.path); err != nil {
		return
	}
	g.kill()
	for rank := range l.Workers {
		_ = unix.Rmdir(filepath.Join(g.path, strconv.Itoa(rank)))
	}
	_ = unix.Rmdir(g.path)
}

func generations(dir string, floors int) []string {
	if _, err := os.Stat(filepath.Join(dir, launchFile)); err == nil {
		return []string{dir}
	}
	if floors == 0 {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var found []string
	for _, e := range entries {
		if e.IsDir() {
			found = append(found, generations(filepath.Join(dir, e.Name()), floors-1)...)
		}
	}
	return found
}
