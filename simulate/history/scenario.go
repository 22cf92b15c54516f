package history

import (
	"errors"
	"fmt"
	"io"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/oxgang/oxgang/simulate/config"
)

// A Scenario is a set of assumptions about jobs that a history does not state, such as whether jobs can be preempted.
type Scenario struct {
	Name string `yaml:"name"`
	// Preempt: jobs may be preempted. They then continue where they were, after a start of length Restart.
	Preempt bool          `yaml:"preempt"`
	Restart time.Duration `yaml:"restart"`
	// Elastic is the share of jobs, drawn at random, that may run on up to twice their GPUs. ScalingLoss is the
	// relative loss of speed of each additional GPU.
	Elastic     float64 `yaml:"elastic"`
	ScalingLoss float64 `yaml:"scaling-loss"`
}

// Rigid is the scenario with the fewest assumptions.
var Rigid = Scenario{Name: "rigid"}

// ErrNoScenarios reports a file without scenarios.
var ErrNoScenarios = errors.New("no scenarios")

// ReadScenarios reads scenarios from YAML. name is the file name in messages.
func ReadScenarios(r io.Reader, name string) ([]Scenario, error) {
	var file struct {
		Scenarios []Scenario `yaml:"scenarios"`
	}
	d := yaml.NewDecoder(r)
	d.KnownFields(true)
	if err := d.Decode(&file); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(file.Scenarios) == 0 {
		return nil, fmt.Errorf("%s: %w", name, ErrNoScenarios)
	}
	seen := make(map[string]bool)
	var errs []error
	for i := range file.Scenarios {
		s := &file.Scenarios[i]
		err := s.validate()
		if seen[s.Name] {
			err = errors.Join(err, errors.New("named as another"))
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: scenario %d, %q: %w", name, i+1, s.Name, err))
		}
		seen[s.Name] = true
	}
	return file.Scenarios, errors.Join(errs...)
}

func (s *Scenario) validate() error {
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

func (s *Scenario) random() bool { return s.Elastic > 0 && s.Elastic < 1 }

func (s *Scenario) apply(c *config.Config) {
	restart := s.Restart
	c.Sim.Restart = &restart
	c.Jobs.Elastic, c.Jobs.ScalingLoss = s.Elastic, s.ScalingLoss
}

func (s *Scenario) says() string {
	gpus := "every job runs on its recorded number of GPUs"
	if s.Elastic > 0 {
		gpus = fmt.Sprintf("%.0f %% of jobs may run on up to twice their recorded GPUs, where each additional GPU adds %.0f %% less; the others run on the recorded number", 100*s.Elastic, 100*s.ScalingLoss)
	}
	if s.Preempt {
		return fmt.Sprintf("%s: %s; jobs may be preempted, and continue after %v", s.Name, gpus, s.Restart)
	}
	return fmt.Sprintf("%s: %s; no job is preempted", s.Name, gpus)
}
