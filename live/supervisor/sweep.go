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

// runVariable names the environment variable with the tag of a generation.
const runVariable = "OXGANG_RUN"

// sweepLimit is how long Sweep waits for what it killed to be gone: processes
// that the kernel does not let go, in a driver say, take some seconds.
const sweepLimit = 10 * time.Second

// Sweep kills the processes that dead supervisors have left: every process whose
// environment has OXGANG_RUN=tag, or a tag below it ("a" is above "a/j1/3"), and the
// descendants of such a process. It spares those of a living supervisor. root is the
// directory of a generation, or one with generations at most three levels below it.
// Sweep returns when the processes are gone, or an error that says which are not. A
// process that hides its environment and has left its parents is found only by its
// cgroup, and is not waited for.
func Sweep(root, tag string) error {
	if tag == "" {
		return errors.New("keeper: sweep: no tag, want one")
	}
	left := map[process]bool{} // killed, and not gone: one that ends has no environment any more, and still has files and devices
	clean := 0                 // readings in a row without an orphan: while a process changes its program, it has no environment
	for end := time.Now().Add(sweepLimit); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		found, err := sweepOnce(root, tag)
		if err != nil {
			return fmt.Errorf("keeper: sweep %s: %w", tag, err)
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
	return fmt.Errorf("keeper: sweep %s: %v still live after SIGKILL and %v", tag, slices.Collect(maps.Keys(left)), sweepLimit)
}

// An orphan is a process of a generation, whose supervisor may be gone.
type orphan struct {
	process
	tag string
}

// sweepOnce kills the present orphans and returns them. The order matters: processes are
// listed first, and locks are tested afterwards. If the lock of a listed process is free,
// the supervisor that started it is gone. A supervisor that begins in between has its lock.
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

// tagged finds the processes with a tag or below one with it.
func tagged(tag string) ([]orphan, error) {
	all, err := processes()
	if err != nil {
		return nil, err
	}
	runs := map[int]string{}
	var found []orphan
	for pid, p := range all {
		// Alive after its environment was read: it is its own, not that of
		// another process, which has its pid now.
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

// runOf returns the tag in a process's environment; "" where there is none or
// it is not ours to see.
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

// under reports whether a tag is another or below it. No tag at all is that of
// every process there is: it is under nothing, and nothing is under it.
func under(run, tag string) bool {
	return run != "" && tag != "" && (run == tag || strings.HasPrefix(run, tag+"/"))
}

// living returns the tags at and below root whose supervisor lives, and empties the
// cgroups of the others.
func living(root, tag string) (map[string]bool, error) {
	kept := map[string]bool{}
	for _, dir := range generations(root, 3) {
		var l Launch
		_, err := readJSON(filepath.Join(dir, launchFile), &l)
		begun := unbegun(dir) != nil // before the lock: one that begins now has not lost its supervisor
		alive, errLock := held(dir)
		switch {
		case errLock != nil:
			return nil, errLock
		case err != nil && alive:
			return nil, err // whose processes to spare cannot be told
		case alive:
			kept[l.Tag] = true
		case err == nil && begun && under(l.Tag, tag) && l.Cgroup != "":
			emptyGroup(&l)
		}
	}
	return kept, nil
}

// emptyGroup kills what is in the cgroup of a generation that has begun and
// whose supervisor is gone, and takes the group away as soon as that is possible.
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

// generations lists the directories at and some floors below dir that have a
// launch.
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
