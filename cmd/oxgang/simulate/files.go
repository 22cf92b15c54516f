package simulate

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/scheduler/metrics"
	"github.com/oxgang/oxgang/simulate/config"
	"github.com/oxgang/oxgang/simulate/history"
	"github.com/oxgang/oxgang/simulate/report"
)

func (s *simulation) prepare() error {
	if s.html != "" && (s.out == "" || filepath.IsAbs(s.html)) {
		info, err := os.Stat(filepath.Dir(s.html))
		switch {
		case err != nil:
			return cli.Hinted(fmt.Errorf("report %s: %w", s.html, err), "use --report= to write none")
		case !info.IsDir():
			return fmt.Errorf("report %s: %s is not a directory", s.html, filepath.Dir(s.html))
		}
	}
	if s.out == "" {
		return nil
	}
	var err error
	s.stage, err = cli.NewStage(s.out)
	return err
}

func (s *simulation) files(runs []report.Run, t *metrics.Trust) error {
	in := report.Input{Title: title(s.config), Facts: facts(s.config, "oxgang "+cli.Version()), Runs: runs}
	if t != nil {
		in.Facts = append([]string{"simulated under " + s.past.baseline + " in place of the cluster's own scheduler: " + t.Errors(), t.Verdict(), "assumed: " + strings.Join(history.Assumptions(s.config), "; ")}, in.Facts...)
	}
	page := func(w io.Writer) error { return report.HTML(w, in) }
	path := s.html
	switch {
	case path == "":
	case s.stage != nil && !filepath.IsAbs(path):
		if err := s.stage.Write(path, page); err != nil {
			return err
		}
		path = filepath.Join(s.out, path)
	default:
		if err := cli.Whole(path, page); err != nil {
			return err
		}
	}
	if s.stage != nil {
		if err := s.data(runs); err != nil {
			return err
		}
	}
	if path != "" {
		s.say("report: %s\n", path)
	}
	return nil
}

func (s *simulation) data(runs []report.Run) error {
	if err := s.stage.Write("results.json", func(w io.Writer) error { return json.NewEncoder(w).Encode(runs) }); err != nil {
		return err
	}
	err := report.CSVs(func(name string) (io.WriteCloser, error) { return s.stage.Create(name) }, runs)
	if err != nil {
		return err
	}
	s.sayWhichSeeds()
	return s.stage.Publish()
}

func (s *simulation) sayWhichSeeds() {
	if s.each || s.seeds == 1 {
		return
	}
	first, tables := s.config.Sim.Seed, ""
	if s.tables != "" {
		tables = fmt.Sprintf("; tables of seeds %d to %d", first, first+uint64(s.seeds)-1)
	}
	s.say("journals and plot data in %s are of seed %d%s\n", s.out, first, tables)
}

func title(c *config.Config) string {
	what := filepath.Base(c.Trace)
	if c.Trace == "" {
		what = "generated " + c.Generate.Kind + " trace"
	}
	return fmt.Sprintf("%s on %s", what, c.Cluster)
}

func facts(c *config.Config, tool string) []string {
	facts := []string{tool}
	if c.Trace != "" {
		facts = append(facts, "trace "+c.Trace)
	}
	profiles := "embedded profiles"
	if c.Profiles != "" {
		profiles = "profiles " + c.Profiles
	}
	facts = append(
		facts, profiles, "cluster "+c.Cluster, fmt.Sprintf("seed %d", c.Sim.Seed),
		fmt.Sprintf("round %v", c.Scheduler.Round), "estimates: "+c.Estimate,
	)
	for _, setting := range c.Settings {
		facts = append(facts, "set "+setting)
	}
	return facts
}

func (s *simulation) say(format string, args ...any) {
	if !s.quiet {
		fmt.Fprintf(s.stderr, format, args...)
	}
}
