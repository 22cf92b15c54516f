package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/oxgang/oxgang/live/local/statedir"
	"github.com/oxgang/oxgang/live/supervisor"
	"github.com/oxgang/oxgang/model/job"
)

// A simKeeper is a simulated supervisor, with the workers of its generation. It does what package
// supervisor says that one does, on the same files.
type simKeeper struct {
	m               *simulation
	dir             string
	lock            *os.File
	pid             int
	tag             string
	g               statedir.Generation
	job             *simJob
	slots           []int
	record, written simRecord

	hungUntil time.Time
	gone      bool // the supervisor has ended
	up        bool // the workers run
	orphans   bool // processes that outlive the supervisor do
	notice    *supervisor.Notice
	exits     []supervisor.Exit // of workers that are over; nil: they are not
	unheld    bool              // the disk was too full for the exit files
	program
}

// simRecord is state.json, as the supervisor writes it.
type simRecord struct {
	Version    int               `json:"version"`
	Phase      supervisor.Phase  `json:"phase"`
	Supervisor simProcess        `json:"keeper"`
	Exits      []supervisor.Exit `json:"exits,omitempty"`
	Ended      time.Time         `json:"ended,omitzero"`
	Detail     string            `json:"detail,omitempty"`
}

type simProcess struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"`
}

// system is what package supervisor gets in place of the machine.
func (m *simulation) system() *supervisor.System {
	return &supervisor.System{Spawn: m.spawn, Signal: m.signal, Tagged: m.tagged, Sync: Sync}
}

// spawn begins a generation.
func (m *simulation) spawn(dir string, lock *os.File) error {
	if m.disk.Dead() {
		return ErrDead
	}
	l, err := supervisor.ReadLaunch(dir)
	if err != nil {
		return err
	}
	m.pids += 2
	k := &simKeeper{m: m, dir: dir, pid: 1<<23 + m.pids, tag: l.Tag, g: statedir.Generation{Job: job.ID(l.Job), Number: l.Generation}}
	k.job = m.jobOf(k.g.Job)
	for _, w := range l.Workers {
		n, err := strconv.Atoi(strings.TrimPrefix(w.Env[0], "OXGANG_SLOT="))
		if err != nil {
			return err
		}
		k.slots = append(k.slots, n)
	}
	m.trace("starts %v on %v", k, k.slots)
	m.checkStart(k)
	k.record = simRecord{Version: 1, Phase: supervisor.Starting, Supervisor: simProcess{k.pid, 1}}
	fd, err := unix.FcntlInt(lock.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return err
	}
	k.lock = os.NewFile(uintptr(fd), "lock")
	if err := k.save(); err != nil {
		return errors.Join(err, k.lock.Close())
	}
	m.keepers = append(m.keepers, k)
	m.after(k.job.starts, k.begin)
	return nil
}

// String names the generation.
func (k *simKeeper) String() string { return string(k.g.Job) + "/" + strconv.Itoa(k.g.Number) }

// save writes state.json, if it says something else.
func (k *simKeeper) save() error {
	var err error
	if reflect.DeepEqual(k.record, k.written) {
		return nil
	}
	if err = k.write("state.json", k.record); err == nil {
		k.written = k.record
	}
	return err
}

func (k *simKeeper) write(name string, v any) (err error) {
	k.m.disk.Outside(func() { err = supervisor.WriteFile(filepath.Join(k.dir, name), v) })
	if errors.Is(err, unix.ENOSPC) {
		k.m.meet(metFullKeeper)
	}
	return err
}

// paused calls do later if the supervisor hangs, and reports whether that is so, or it is gone.
func (k *simKeeper) paused(do func()) bool {
	now := time.Now()
	if !k.gone && now.Before(k.hungUntil) {
		k.m.after(k.hungUntil.Sub(now)+time.Millisecond, do)
		return true
	}
	return k.gone
}

// begin starts the workers, unless there is a notice.
func (k *simKeeper) begin() {
	if k.paused(k.begin) {
		return
	}
	k.readNotice()
	if k.notice != nil {
		k.over(supervisor.Exit{Code: supervisor.TempFail})
		return
	}
	k.up, k.orphans = true, k.job.children
	k.m.trace("workers of %v run", k)
	k.record.Phase = supervisor.Running
	_ = k.save() // tick tries again
	k.start()
	k.tick()
}

// tick is what a supervisor does again and again.
func (k *simKeeper) tick() {
	if k.paused(k.tick) || k.record.Phase == supervisor.Ended {
		return
	}
	k.readNotice()
	_ = k.save()
	switch {
	case k.exits != nil:
		k.end()
	case k.notice != nil && !time.Now().Before(k.notice.Deadline):
		k.m.trace("%v is killed at its deadline", k)
		k.m.meet(metLate)
		k.over(supervisor.Exit{Signal: 9})
	}
	wait := 5 * time.Second
	if k.notice != nil || k.exits != nil {
		wait = 100 * time.Millisecond
	}
	k.m.after(wait, k.tick)
}

// readNotice reads notice.json, and sends SIGTERM on the first one.
func (k *simKeeper) readNotice() {
	text, err := os.ReadFile(filepath.Join(k.dir, "notice.json"))
	if err != nil {
		return
	}
	var n supervisor.Notice
	if err := n.UnmarshalJSON(text); err != nil {
		k.m.fail("notice of %v: %v", k, err)
		return
	}
	first := k.notice == nil
	k.notice = &n
	if first && k.up {
		k.m.trace("%v has notice until %v", k, k.m.since(n.Deadline))
		k.record.Phase = supervisor.Stopping
		k.terminate()
	}
}

// over records that all workers are.
func (k *simKeeper) over(e supervisor.Exit) {
	if k.exits != nil || k.gone {
		return
	}
	for range k.slots {
		k.exits = append(k.exits, e)
	}
	if !e.OK() {
		k.record.Detail = "worker 0: " + e.String()
	}
	k.m.trace("workers of %v are over: %v", k, e)
	k.up = false
	for rank := range k.slots { // holders do this
		if err := k.write(fmt.Sprintf("exit.%d.json", rank), e); err != nil {
			k.unheld = true
			break
		}
	}
	k.end()
}

// end writes how the generation ended, and releases the lock.
func (k *simKeeper) end() {
	if k.paused(k.end) || k.record.Phase == supervisor.Ended {
		return
	}
	before := k.record
	k.orphans = false
	k.record.Phase, k.record.Exits, k.record.Ended = supervisor.Ended, k.exits, time.Now()
	if err := k.save(); err != nil {
		k.record = before
		k.m.after(100*time.Millisecond, k.end)
		return
	}
	k.m.noteEnd(k)
	k.leave()
}

// leave ends the supervisor; what outlives it does.
func (k *simKeeper) leave() {
	k.gone, k.up = true, false
	if k.lock != nil {
		_ = k.lock.Close()
		k.lock = nil
	}
}

// on reports whether processes of the generation are on its slots.
func (k *simKeeper) on() bool { return !k.gone || k.orphans }

// kill ends the supervisor, and its workers with it.
func (k *simKeeper) kill() {
	if !k.gone {
		k.m.trace("supervisor of %v is killed", k)
		k.m.noteDeath(k)
		k.leave()
	}
}

// signal sends one.
func (m *simulation) signal(pid int, s unix.Signal) error {
	if m.disk.Dead() {
		return nil
	}
	for _, k := range m.keepers {
		switch {
		case k.pid == pid && s == unix.SIGUSR1:
			m.after(10*time.Millisecond, k.hear)
		case k.pid == pid && s == unix.SIGKILL:
			m.checkKill(k)
			m.meet(metHung)
			k.kill()
		case k.pid-1 == pid && s == unix.SIGKILL:
			m.meet(metOrphans)
			k.orphans = false
		}
	}
	return nil
}

// hear is what a supervisor does on a signal.
func (k *simKeeper) hear() {
	if k.paused(k.hear) || k.record.Phase == supervisor.Ended || !k.up {
		return
	}
	k.readNotice()
	k.m.after(0, k.tick)
}

// tagged returns the processes of a tag that outlive their supervisors. Their pids are one below
// their supervisors'.
func (m *simulation) tagged(tag string) map[int]string {
	all := map[int]string{}
	for _, k := range m.keepers {
		if k.gone && k.orphans && (k.tag == tag || strings.HasPrefix(k.tag, tag+"/")) {
			all[k.pid-1] = k.tag
		}
	}
	return all
}

// losePower ends everything on the machine.
func (m *simulation) losePower() error {
	for _, k := range m.keepers {
		if !k.gone {
			m.noteDeath(k)
		}
		k.leave()
		k.orphans = false
	}
	return m.disk.LosePower(m.choose("power"))
}

// running returns the generations that have processes.
func (m *simulation) running() []*simKeeper {
	return slices.DeleteFunc(slices.Clone(m.keepers), func(k *simKeeper) bool { return !k.on() })
}
