package load

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

type timeline struct {
	mu    sync.Mutex
	jobs  map[types.NamespacedName]*life
	ended int
	first time.Time
	last  time.Time
}

type life struct {
	class            string
	came             time.Time
	admitted         time.Time
	ran              time.Time
	ended            time.Time
	suspended        bool
	evictions        int
	admissions, pods int
}

func (b *bench) record() *timeline {
	b.Helper()
	small := rest.CopyConfig(b.Config)
	small.ContentType, small.QPS = "application/vnd.kubernetes.protobuf", -1
	api := kubernetes.NewForConfigOrDie(small)
	s := &timeline{jobs: map[types.NamespacedName]*life{}}
	jobs, err := api.BatchV1().Jobs("").List(b.Context(), metav1.ListOptions{Limit: 1})
	b.ok(err)
	b.watch(jobs.ResourceVersion, api.BatchV1().Jobs("").Watch, s.job)
	pods := b.meta.Resource(corev1.SchemeGroupVersion.WithResource("pods"))
	b.watch(jobs.ResourceVersion, func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
		o.FieldSelector = "status.phase=Running"
		return pods.Watch(ctx, o)
	}, s.pod)
	return s
}

func (b *bench) watch(from string, open cache.WatchFuncWithContext, do func(watch.Event)) {
	b.Helper()
	w, err := watchtools.NewRetryWatcherWithContext(b.Context(), from, &cache.ListWatch{WatchFuncWithContext: open})
	b.ok(err)
	go func() {
		for ev := range w.ResultChan() {
			do(ev)
		}
	}()
}

func (s *timeline) job(ev watch.Event) {
	j, is := ev.Object.(*batchv1.Job)
	if !is {
		return
	}
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.of(j.Namespace, j.Name, now)
	l.class = j.Labels[classLabel]
	suspended := j.Spec.Suspend != nil && *j.Spec.Suspend
	switch {
	case l.suspended && !suspended:
		l.admitted = now
		l.admissions++
	case !l.suspended && suspended:
		l.evictions++
	}
	l.suspended = suspended
	if l.ended.IsZero() && condition(j, batchv1.JobComplete) {
		l.ended = now
		s.ended++
		s.last = now
	}
}

func (s *timeline) pod(ev watch.Event) {
	p, is := ev.Object.(metav1.Object)
	if !is || ev.Type != watch.Added {
		return
	}
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.of(p.GetNamespace(), p.GetLabels()[batchv1.JobNameLabel], now)
	l.ran = now
	l.pods++
}

func (s *timeline) of(namespace, name string, now time.Time) *life {
	key := types.NamespacedName{Namespace: namespace, Name: name}
	l := s.jobs[key]
	if l == nil {
		l = &life{came: now, suspended: true}
		s.jobs[key] = l
		if s.first.IsZero() {
			s.first = now
		}
	}
	return l
}

func (s *timeline) done(want int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended < want {
		return fmt.Errorf("%d of %d jobs are complete", s.ended, want)
	}
	return nil
}

func (s *timeline) wall() time.Duration { return s.last.Sub(s.first) }

func (s *timeline) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	classes := map[string][]*life{}
	for _, l := range s.jobs {
		classes[l.class] = append(classes[l.class], l)
	}
	var lines []string
	for name, all := range classes {
		mean := func(at func(*life) time.Time) float64 {
			sum := 0.0
			for _, l := range all {
				sum += at(l).Sub(l.came).Seconds()
			}
			return sum / float64(len(all))
		}
		evictions, pods := 0, 0
		for _, l := range all {
			evictions += l.evictions
			pods += l.pods
		}
		lines = append(lines, fmt.Sprintf("%s: %d jobs, %d pods, %d evictions; on average admitted after %.1f s, running after %.1f, complete after %.1f",
			name, len(all), pods, evictions, mean(func(l *life) time.Time { return l.admitted }), mean(func(l *life) time.Time { return l.ran }),
			mean(func(l *life) time.Time { return l.ended })))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func condition(j *batchv1.Job, want batchv1.JobConditionType) bool {
	for _, c := range j.Status.Conditions {
		if c.Type == want && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}
