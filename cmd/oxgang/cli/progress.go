package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/oxgang/oxgang/policy"
	"github.com/oxgang/oxgang/scheduler"
)

// A Progress prints how many jobs of a simulation have ended: as a bar on a terminal, else as lines.
type Progress struct {
	mu       sync.Mutex
	w        io.Writer
	terminal bool
	total    int
	ended    int
	shown    time.Time
}

// NewProgress returns a Progress for runs that have jobs jobs in total.
func NewProgress(w io.Writer, quiet bool, jobs int) *Progress {
	p := &Progress{w: w, total: jobs, shown: time.Now()}
	if quiet {
		p.w = io.Discard
	}
	p.terminal = Terminal(w)
	return p
}

// Terminal reports whether w is a terminal.
func Terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Observer returns an observer that counts the ended jobs of one run.
func (p *Progress) Observer() scheduler.Observer { return counter{p} }

type counter struct{ p *Progress }

func (c counter) Event(_ time.Time, ev scheduler.Event) {
	if e, ok := ev.(scheduler.Exited); ok && e.Outcome != scheduler.Lost {
		c.p.step()
	}
}

func (counter) Unreported() {}

func (counter) Round(*policy.Snapshot, *policy.Plan, []scheduler.Action) {}

func (p *Progress) step() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended++
	every := 5 * time.Second
	if p.terminal {
		every = 100 * time.Millisecond
	}
	if time.Since(p.shown) < every {
		return
	}
	p.shown = time.Now()
	if !p.terminal {
		fmt.Fprintf(p.w, "%d of %d jobs have ended\n", p.ended, p.total)
		return
	}
	const width = 40
	full := width * p.ended / max(1, p.total)
	fmt.Fprintf(p.w, "\r[%s%s] %d/%d jobs", strings.Repeat("=", full), strings.Repeat(" ", width-full), p.ended, p.total)
}

// Done removes the bar.
func (p *Progress) Done() {
	if p.terminal {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
