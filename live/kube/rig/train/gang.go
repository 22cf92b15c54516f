package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	batchlist "k8s.io/client-go/listers/batch/v1"
	corelist "k8s.io/client-go/listers/core/v1"

	"github.com/oxgang/oxgang/live/kube/api/v1alpha1"
	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/workload"
)

type gang struct {
	generation int
	pods       []*corev1.Pod // rank 0 is the first
	uids       []types.UID   // ascending
	held       cluster.Configuration
	shape      []int // GPUs by node
}

type predictor struct {
	factory informers.SharedInformerFactory
	pods    corelist.PodLister
	nodes   corelist.NodeLister
	jobs    batchlist.JobLister
}

func newPredictor(client kubernetes.Interface) *predictor {
	f := informers.NewSharedInformerFactory(client, 0)
	return &predictor{
		factory: f, pods: f.Core().V1().Pods().Lister(), nodes: f.Core().V1().Nodes().Lister(), jobs: f.Batch().V1().Jobs().Lister(),
	}
}

func (l *predictor) start(ctx context.Context) error {
	l.factory.Start(ctx.Done())
	for kind, ok := range l.factory.WaitForCacheSync(ctx.Done()) {
		if !ok && ctx.Err() == nil {
			return fmt.Errorf("train: cannot list %v", kind)
		}
	}
	return nil
}

type start struct {
	id         job.ID
	generation int
}

func startOf(l map[string]string) (start, bool) {
	n, err := strconv.Atoi(l[v1alpha1.Generation])
	id := l[v1alpha1.JobUID]
	return start{job.ID(id), n}, err == nil && n > 0 && id != ""
}

func (l *predictor) gangs(names map[string]cluster.GPUType) map[job.ID]*gang {
	all, wanted := l.running(), l.wanted()
	latest := make(map[job.ID]*gang)
	for s, pods := range all {
		if wanted[s] == 0 || len(pods) != wanted[s] {
			continue
		}
		if now := latest[s.id]; now != nil && now.generation > s.generation {
			continue
		}
		if g := l.gang(s, pods, names); g != nil {
			latest[s.id] = g
		}
	}
	return latest
}

func (l *predictor) running() map[start][]*corev1.Pod {
	all := make(map[start][]*corev1.Pod)
	pods, _ := l.pods.List(labels.Everything()) // a lister never fails
	for _, p := range pods {
		s, ok := startOf(p.Labels)
		if ok && p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil {
			all[s] = append(all[s], p)
		}
	}
	return all
}

func (l *predictor) wanted() map[start]int {
	all := make(map[start]int)
	jobs, _ := l.jobs.List(labels.Everything())
	for _, j := range jobs {
		s, ok := startOf(j.Spec.Template.Labels)
		if ok && (j.Spec.Suspend == nil || !*j.Spec.Suspend) && j.Spec.Parallelism != nil {
			all[s] += int(*j.Spec.Parallelism)
		}
	}
	return all
}

func (l *predictor) gang(s start, pods []*corev1.Pod, names map[string]cluster.GPUType) *gang {
	slices.SortFunc(pods, func(a, b *corev1.Pod) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Name, b.Name))
	})
	g := &gang{generation: s.generation, pods: pods}
	byNode := make(map[string]int)
	for _, p := range pods {
		g.uids = append(g.uids, p.UID)
		node, err := l.nodes.Get(p.Spec.NodeName)
		if err != nil {
			return nil
		}
		byNode[node.Name] += gpus(p)
		g.held.GPUs += gpus(p)
		product := node.Labels[rig.Product]
		g.held.GPUType = cmp.Or(names[product], cluster.GPUType(product))
	}
	slices.Sort(g.uids)
	for _, name := range slices.Sorted(maps.Keys(byNode)) {
		g.shape = append(g.shape, byNode[name])
	}
	g.held.Nodes = len(g.shape)
	return g
}

func rank(p *corev1.Pod) int {
	n, err := strconv.Atoi(p.Annotations[batchv1.JobCompletionIndexAnnotation])
	if err != nil {
		return math.MaxInt
	}
	return n
}

func gpus(p *corev1.Pod) int {
	n := int64(0)
	for i := range p.Spec.Containers {
		q := p.Spec.Containers[i].Resources.Limits[rig.GPU]
		n += q.Value()
	}
	return int(n)
}

func (w *work) know(g *gang, catalog workload.Catalog) error {
	if w.app != nil {
		return nil
	}
	says := g.pods[0].Annotations
	app := catalog[says[Application]]
	if app == nil {
		return fmt.Errorf("pod %s: application %q, want one of %v", g.pods[0].Name, says[Application], catalog.Names())
	}
	t := training{app: app, total: app.Batch.Init}
	_, t.adaptive = says[v1alpha1.MaxBatchSize]
	if app.Curve != nil {
		t.target = app.Curve.Target()
	}
	var bad []error
	if s, ok := says[v1alpha1.Samples]; ok {
		bad = append(bad, parse(v1alpha1.Samples, s, &t.target))
	}
	if s, ok := says[v1alpha1.BatchSize]; ok && !t.adaptive {
		total := 0.0
		bad = append(bad, parse(v1alpha1.BatchSize, s, &total))
		t.total = int(total)
	}
	if t.target == 0 {
		bad = append(bad, errors.New("no "+v1alpha1.Samples+", and the application has no end"))
	}
	if err := errors.Join(bad...); err != nil {
		return fmt.Errorf("pod %s: %w", g.pods[0].Name, err)
	}
	w.training = t
	return nil
}

func parse(name, s string, to *float64) error {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || !(x >= 1) || x > 1<<53 {
		return fmt.Errorf("annotation %s: %q, want a number from 1 to 2^53", name, s)
	}
	*to = x
	return nil
}
