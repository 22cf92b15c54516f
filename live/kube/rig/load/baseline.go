package load

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/oxgang/oxgang/live/kube/rig"
	"github.com/oxgang/oxgang/live/kube/rig/e2e"
)

// A baseline is the input of Kueue's performance test: cohorts of ClusterQueues with sets of workloads.
//
// Source: Kueue 0.19.2, test/performance/scheduler/configs/baseline/generator.yaml.
type baseline struct {
	Cohorts []struct {
		ClassName  string `json:"className"`
		Count      int    `json:"count"`
		QueuesSets []struct {
			ClassName           string         `json:"className"`
			Count               int            `json:"count"`
			NominalQuota        int            `json:"nominalQuota"`
			BorrowingLimit      int            `json:"borrowingLimit"`
			ReclaimWithinCohort string         `json:"reclaimWithinCohort"`
			WithinClusterQueue  string         `json:"withinClusterQueue"`
			WorkloadsSets       []workloadsSet `json:"workloadsSets"`
		} `json:"queuesSets"`
	} `json:"cohorts"`
}

type workloadsSet struct {
	Count              int     `json:"count"`
	CreationIntervalMs int     `json:"creationIntervalMs"`
	Workloads          []class `json:"workloads"`
}

type class struct {
	ClassName string `json:"className"`
	RuntimeMs int    `json:"runtimeMs"`
	Priority  int    `json:"priority"`
	Request   int    `json:"request"` // CPUs in Kueue, GPUs here
}

func readBaseline(ctx context.Context, part float64) (*baseline, error) {
	dir, err := rig.ModuleDir(ctx, "sigs.k8s.io/kueue")
	if err != nil {
		return nil, err
	}
	f, err := os.Open(filepath.Join(dir, "test/performance/scheduler/configs/baseline/generator.yaml"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all baseline
	if err := yaml.NewYAMLOrJSONDecoder(f, 4096).Decode(&all); err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Name(), err)
	}
	if len(all.Cohorts) != 1 || len(all.Cohorts[0].QueuesSets) != 1 {
		return nil, fmt.Errorf("%s: want one kind of cohorts with one kind of queues", f.Name())
	}
	sets := all.Cohorts[0].QueuesSets[0].WorkloadsSets
	for i := range sets {
		sets[i].Count = max(1, int(part*float64(sets[i].Count)))
	}
	return &all, nil
}

func (all *baseline) write(path string) error {
	data, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}

func (all *baseline) workloads() (n int) {
	cohort := &all.Cohorts[0]
	for _, s := range cohort.QueuesSets[0].WorkloadsSets {
		n += s.Count * len(s.Workloads)
	}
	return n * cohort.Count * cohort.QueuesSets[0].Count
}

func (all *baseline) each(do func(cohort, queue string)) {
	cohort := &all.Cohorts[0]
	for i := range cohort.Count {
		of := fmt.Sprintf("%s-%d", cohort.ClassName, i)
		for k := range cohort.QueuesSets[0].Count {
			do(of, fmt.Sprintf("%s-0-%d-%s", cohort.QueuesSets[0].ClassName, k, of))
		}
	}
}

func (all *baseline) generate(ctx context.Context, create func(ctx context.Context, cohort, queue, name string, c *class) error) error {
	g, ctx := errgroup.WithContext(ctx)
	all.each(func(cohort, queue string) {
		for i, s := range all.Cohorts[0].QueuesSets[0].WorkloadsSets {
			g.Go(func() error {
				for n := range s.Count {
					for k := range s.Workloads {
						time.Sleep(time.Duration(s.CreationIntervalMs) * time.Millisecond)
						c := &s.Workloads[k]
						if err := create(ctx, cohort, queue, fmt.Sprintf("%s-%d-%d-%d", c.ClassName, i, n, k), c); err != nil {
							return err
						}
					}
				}
				return nil
			})
		}
	})
	return g.Wait()
}

const classLabel = "load.oxgang.dev/class"

func (c *class) job(namespace, name string, labels map[string]string) *batchv1.Job {
	j := e2e.Job(name, "", 1, c.Request, nil)
	j.Namespace, j.Labels = namespace, labels
	j.Labels[classLabel] = c.ClassName
	j.Spec.Template.Annotations = map[string]string{rig.ExitCode: "0", rig.ExitAfter: (time.Duration(c.RuntimeMs) * time.Millisecond).String()}
	return j
}
