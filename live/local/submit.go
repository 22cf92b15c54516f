package local

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/account"
	"github.com/oxgang/oxgang/live/store"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/scheduler"
)

const restart = 10 * time.Second

// Submit accepts a job and stores it durably. The ID is name, with a number appended if name is taken.
func (b *Backend) Submit(name string, spec *job.Spec, request store.Request) (job.ID, error) {
	if err := b.fits(spec, &request); err != nil {
		return "", err
	}
	b.Lock()
	defer b.Unlock()
	if b.jobs.Events.Draining() {
		return "", errors.New("the scheduler is shutting down and accepts no more jobs")
	}
	if err := b.checkQuota(spec, request.User); err != nil {
		return "", err
	}
	id, err := b.name(name, request.User)
	if err != nil {
		return "", err
	}
	asked := *b.onePerGPU(spec)
	asked.ID, asked.Name = id, name
	if asked.RestartOverhead == 0 {
		asked.RestartOverhead = restart
	}
	e := newEntry(&store.Job{Spec: withoutClient(&asked), Asked: &asked, Request: request, Token: rand.Text()})
	e.Status = job.Status{Phase: job.Waiting, Submitted: b.jobs.Events.Present()}
	e.Status.Since = e.Status.Submitted
	hook("submit: before acceptance")
	if err := b.jobs.wrote(b.jobs.store.Accept(&e.Job)); err != nil {
		return "", err
	}
	hook("submit: accepted")
	b.jobs.remember(e, nil)
	b.jobs.add(e)
	if _, e.withheld = b.o.Quotas.most(request.User); e.withheld {
		b.jobs.admit()
		return id, nil
	}
	b.jobs.Events.Emit(scheduler.Submitted{Spec: e.Spec})
	return id, nil
}

func (b *Backend) name(name string, u *account.User) (job.ID, error) {
	for {
		id, err := b.jobs.store.Name(name)
		if err != nil {
			return "", err
		}
		err = b.folders.Make(id, u)
		if err == nil {
			return id, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("job %s: %w", id, err)
		}
	}
}

func withoutClient(asked *job.Spec) *job.Spec {
	spec := *asked
	spec.NonPreemptive, spec.NoCheckpoint = true, true
	return &spec
}

// onePerGPU limits a job to one worker per GPU, unless it needs more: sharing gains nothing
// (docs/experiments/gpu.md).
func (b *Backend) onePerGPU(spec *job.Spec) *job.Spec {
	if n := b.o.Machine.workers(); n < len(b.o.Machine.Slots) && spec.GPUs <= n {
		return bounded(spec, n)
	}
	return spec
}

func (b *Backend) fits(spec *job.Spec, r *store.Request) error {
	slots := len(b.o.Machine.Slots)
	switch {
	case len(r.Command) == 0:
		return errors.New("no command")
	case spec.GPUs < 1 || spec.MinGPUs > spec.GPUs || spec.MaxGPUs != 0 && spec.MaxGPUs < spec.GPUs:
		return fmt.Errorf("minimum %d, maximum %d, requested %d GPUs: want 1 or more requested GPUs, between minimum and maximum", spec.MinGPUs, spec.MaxGPUs, spec.GPUs)
	case max(spec.MinGPUs, 1) > slots || !spec.Adaptivity.Has(job.GPUCount) && spec.GPUs > slots:
		return fmt.Errorf("the job needs %s, but %s has %d", printable.Count(max(spec.MinGPUs, spec.GPUs), "GPU"), b.o.Machine.Name, slots)
	case !spec.Eligible(b.o.Machine.Type):
		return fmt.Errorf("the job needs GPU types %v, but %s has %s", spec.GPUTypes, b.o.Machine.Name, b.o.Machine.Type)
	case !filepath.IsAbs(r.Dir):
		return fmt.Errorf("directory %q, want an absolute path", r.Dir)
	}
	return r.User.Do(func() error {
		if info, err := os.Stat(r.Dir); err != nil || !info.IsDir() {
			return fmt.Errorf("directory %s: no such directory", r.Dir)
		}
		return nil
	})
}

// Cancel ends a job durably. Its processes are asked to save a checkpoint and stop.
func (b *Backend) Cancel(id job.ID) error {
	b.Lock()
	defer b.Unlock()
	e, err := b.Get(id)
	if err != nil {
		return err
	}
	if e.Over {
		return fmt.Errorf("job %s: has ended already", id)
	}
	if !b.jobs.end(e, scheduler.Cancelled, "cancelled by its user") {
		return fmt.Errorf("job %s: could not be cancelled: %s", id, cmp.Or(b.jobs.full, "see the scheduler's log"))
	}
	b.jobs.removeIfOver(e) // unknown to the scheduler
	return nil
}
