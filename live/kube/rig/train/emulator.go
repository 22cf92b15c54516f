package train

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/model/job"
)

const tick = 100 * time.Millisecond

const atOnce = 16

// An Emulator trains the jobs of a cluster.
type Emulator struct {
	o      Options
	client kubernetes.Interface
	look   *predictor

	mu   sync.Mutex
	jobs map[job.ID]*work
}

type work struct {
	training
	voice

	pods    []types.UID // ascending; nil: none
	last    []types.UID
	spoken  time.Time // last attempted message
	trouble error
	ended   bool
	lost    float64 // samples trained but not saved
	starts  int
}

// A State is the training state of a job.
type State struct {
	Progress, Target float64 // samples
	Lost             float64 // samples trained and lost by a stop
	Generation       int     // trained last
	Starts           int
	Steps            float64 // of the optimiser
	Training, Done   bool    // training now; target reached
	Trouble          error   // of messages or pods
}

// New returns an idle emulator.
func New(o Options) (*Emulator, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if o.Client == nil {
		o.Client = http.DefaultClient
	}
	client, err := kubernetes.NewForConfig(o.Config)
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	return &Emulator{o: o, client: client, look: newPredictor(client), jobs: make(map[job.ID]*work)}, nil
}

// Run trains until ctx ends, and returns nil.
func (e *Emulator) Run(ctx context.Context) error {
	if err := e.look.start(ctx); err != nil {
		return err
	}
	clock := time.NewTicker(tick)
	defer clock.Stop()
	before := time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-clock.C:
			e.step(ctx, now, now.Sub(before))
			before = now
		}
	}
}

func (e *Emulator) step(ctx context.Context, now time.Time, elapsed time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	gangs := e.look.gangs(e.o.Types)
	for id, w := range e.jobs {
		e.pass(w, elapsed)
		if gangs[id] == nil {
			w.pods = nil
		}
	}
	var talk errgroup.Group
	talk.SetLimit(atOnce)
	for id, g := range gangs {
		w := e.jobs[id]
		if w == nil {
			w = &work{}
			e.jobs[id] = w
		}
		talk.Go(func() error {
			if err := e.serve(ctx, now, w, g); err != nil && ctx.Err() == nil {
				w.trouble = err
			}
			return nil
		})
	}
	_ = talk.Wait() // errors are in trouble
}

func (e *Emulator) pass(w *work, elapsed time.Duration) {
	if w.pods != nil && !w.notice {
		w.covered += w.advance(elapsed.Seconds() * e.o.Speed)
	}
}

func (e *Emulator) serve(ctx context.Context, now time.Time, w *work, g *gang) error {
	if !slices.Equal(w.pods, g.uids) {
		if err := e.begin(w, g); err != nil {
			return err
		}
	}
	if w.delay > 0 {
		return nil
	}
	err := e.speak(ctx, now, w)
	if w.done() && !w.ended {
		w.ended = true
		for _, p := range g.pods {
			if err := exit(ctx, e.client, p); err != nil {
				w.ended = false
				return err
			}
		}
	}
	return err
}

func (e *Emulator) begin(w *work, g *gang) error {
	if err := w.know(g, e.o.Catalog); err != nil {
		return err
	}
	survived := g.generation == w.generation && slices.ContainsFunc(g.uids, func(u types.UID) bool { return slices.Contains(w.last, u) })
	before := w.progress
	w.training.begin(g.held, g.shape, survived)
	w.lost += before - w.progress
	v := voice{client: e.o.Client, url: e.o.URL, generation: g.generation, speed: e.o.Speed}
	if g.generation == w.generation { // reports are numbered within a generation
		v.sequence = w.sequence
	}
	if e.o.Token != nil {
		token, err := e.o.Token(g.pods[0])
		if err != nil {
			return fmt.Errorf("token of pod %s: %w", g.pods[0].Name, err)
		}
		v.token = token
	}
	w.voice, w.pods, w.last, w.ended, w.spoken = v, g.uids, g.uids, false, time.Time{}
	w.starts++
	return nil
}

const retry = time.Second

func (e *Emulator) speak(ctx context.Context, now time.Time, w *work) error {
	if !w.welcome {
		if now.Sub(w.spoken) < retry {
			return nil
		}
		w.spoken = now
		return w.hello(ctx, &w.training)
	}
	due := now.Sub(w.spoken).Seconds() >= w.every
	last := w.done() && !w.ended
	if !due && !last || w.covered == 0 {
		return nil
	}
	w.spoken = now
	return w.report(ctx, &w.training)
}

// States returns the states of all jobs that have trained for some time.
func (e *Emulator) States() map[job.ID]State {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := make(map[job.ID]State, len(e.jobs))
	for id, w := range e.jobs {
		all[id] = State{
			Progress: w.progress, Target: w.target, Lost: w.lost, Generation: w.generation, Starts: w.starts,
			Steps: w.training.step, Training: w.pods != nil && !w.done(), Done: w.target > 0 && w.done(), Trouble: w.trouble,
		}
	}
	return all
}

func exit(ctx context.Context, client kubernetes.Interface, p *corev1.Pod) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	data := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"0"}}}`, rig.ExitCode)
	_, err := client.CoreV1().Pods(p.Namespace).Patch(ctx, p.Name, types.MergePatchType, data, v1.PatchOptions{})
	if err != nil {
		return fmt.Errorf("end pod %s/%s: %w", p.Namespace, p.Name, err)
	}
	return nil
}
