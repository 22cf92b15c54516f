package simulate

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/simulate/config"
)

// A scenario is what is assumed of jobs beyond what was recorded of them.
type scenario struct {
	Name string `yaml:"name"`
	// Preempt: jobs may be preempted, and go on where they were after a start that costs Restart.
	Preempt bool          `yaml:"preempt"`
	Restart time.Duration `yaml:"restart"`
	// Elastic is the share of jobs, drawn at random, that may run on up to twice the GPUs that they had; each
	// GPU beyond those adds ScalingLoss less than one of those.
	Elastic     float64 `yaml:"elastic"`
	ScalingLoss float64 `yaml:"scaling-loss"`
}

// rigidJobs is the scenario that assumes least.
var rigidJobs = scenario{Name: "rigid"}

// readScenarios reads a file of scenarios, or returns rigidJobs if there is none.
func readScenarios(name string) ([]scenario, error) {
	if name == "" {
		return []scenario{rigidJobs}, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var file struct {
		Scenarios []scenario `yaml:"scenarios"`
	}
	d := yaml.NewDecoder(f)
	d.KnownFields(true)
	if err := d.Decode(&file); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(file.Scenarios) == 0 {
		return nil, cli.Hinted(fmt.Errorf("%s: no scenarios", name), "scenarios: [{name: checkpoints, preempt: true, restart: 60s}]")
	}
	seen := make(map[string]bool)
	var errs []error
	for i := range file.Scenarios {
		s := &file.Scenarios[i]
		if err := s.validate(); err != nil || seen[s.Name] {
			errs = append(errs, fmt.Errorf("%s: scenario %d, %q: %w", name, i+1, s.Name, errors.Join(err, repeated(seen[s.Name]))))
		}
		seen[s.Name] = true
	}
	return file.Scenarios, errors.Join(errs...)
}

// repeated returns an error for a name that another scenario has.
func repeated(is bool) error {
	if is {
		return errors.New("named as another")
	}
	return nil
}

// validate returns an error if a scenario says what cannot be.
func (s *scenario) validate() error {
	switch {
	case s.Name == "":
		return errors.New("no name")
	case !(s.Elastic >= 0 && s.Elastic <= 1) || !(s.ScalingLoss >= 0 && s.ScalingLoss <= 1):
		return fmt.Errorf("elastic %v, scaling-loss %v, want 0 to 1", s.Elastic, s.ScalingLoss)
	case s.Restart < 0:
		return fmt.Errorf("restart %v, want at least 0", s.Restart)
	case s.Restart > 0 && !s.Preempt:
		return fmt.Errorf("restart %v of jobs that are not preempted, want preempt: true with it", s.Restart)
	}
	return nil
}

// random reports whether chance says which jobs are what.
func (s *scenario) random() bool { return s.Elastic > 0 && s.Elastic < 1 }

// apply makes a configuration that of the scenario.
func (s *scenario) apply(c *config.Config) {
	restart := s.Restart
	c.Sim.Restart = &restart
	c.Jobs.Elastic, c.Jobs.ScalingLoss = s.Elastic, s.ScalingLoss
}

// says returns what the scenario assumes.
func (s *scenario) says() string {
	gpus := "every job runs on as many GPUs as it had, no more and no fewer"
	if s.Elastic > 0 {
		gpus = fmt.Sprintf("%.0f %% of jobs may run on up to twice the GPUs that they had, of which each beyond those adds %.0f %% less than one of those; the others on as many as they had", 100*s.Elastic, 100*s.ScalingLoss)
	}
	if s.Preempt {
		return fmt.Sprintf("%s: %s; a job may be preempted, and goes on where it was after %v", s.Name, gpus, s.Restart)
	}
	return fmt.Sprintf("%s: %s; none is preempted", s.Name, gpus)
}
