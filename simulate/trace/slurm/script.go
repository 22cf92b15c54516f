package slurm

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/trace/parse"
)

// gpuCounts matches numbers of GPUs, with or without a type: 2, a100:2, a100:2,h100:1.
var gpuCounts = regexp.MustCompile(`^([^:,]+:)?[0-9]+(,([^:,]+:)?[0-9]+)*$`)

// IsScript reports whether a text is a script for sbatch.
func IsScript(text string) bool {
	return strings.HasPrefix(text, "#!") || strings.Contains("\n"+text, "\n#SBATCH")
}

var shortOptions = map[string]string{
	"-G": "gpus", "-N": "nodes", "-n": "ntasks", "-c": "cpus-per-task", "-t": "time", "-p": "partition", "-J": "job-name",
}

// ParseScript returns the job of an sbatch script, from its #SBATCH lines. It cannot see options on the command line
// and in the environment of sbatch.
//
// Source: man sbatch.
func ParseScript(text string) (*job.Spec, error) {
	s := script{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") { // sbatch reads options up to the first command
			break
		}
		if rest, ok := strings.CutPrefix(line, "#SBATCH"); ok {
			s.read(rest)
		}
	}
	return s.job()
}

type script map[string]string

func (s script) read(line string) {
	line, _, _ = strings.Cut(line, " #")
	words := strings.Fields(line)
	for i := 0; i < len(words); i++ {
		name, value, given := strings.Cut(words[i], "=")
		if long, ok := strings.CutPrefix(name, "--"); ok {
			name = long
		} else if len(name) >= 2 && shortOptions[name[:2]] != "" {
			value, given = words[i][2:], len(words[i]) > 2
			name = shortOptions[name[:2]]
		}
		if !given && i+1 < len(words) && !strings.HasPrefix(words[i+1], "-") {
			i++
			value = words[i]
		}
		s[name] = strings.Trim(value, `"'`)
	}
}

func (s script) job() (*job.Spec, error) {
	spec := &job.Spec{Name: s["job-name"], Queue: s["partition"], Adaptivity: job.Rigid, Weight: 1}
	nodes, err := s.number("nodes", 1)
	if err != nil {
		return nil, err
	}
	gpus, err := s.gpus(spec, nodes)
	if err != nil {
		return nil, err
	}
	if spec.GPUs = gpus; gpus == 0 {
		return nil, errors.New("the script requests no GPUs, want an option such as --gpus=2 or --gres=gpu:2")
	}
	if gpus > parse.MaxCount {
		return nil, fmt.Errorf("%d GPUs, want at most %d", gpus, parse.MaxCount)
	}
	if s["nodes"] != "" && gpus%nodes == 0 {
		spec.WorkerGPUs = gpus / nodes
	}
	return spec, s.hosts(spec, nodes)
}

func (s script) hosts(spec *job.Spec, nodes int) error {
	tasks, err := s.tasks(nodes)
	if err != nil {
		return err
	}
	each, err := s.number("cpus-per-task", 0)
	if err != nil {
		return err
	}
	spec.CPUs = float64(tasks * each)
	if perGPU, err := s.number("cpus-per-gpu", 0); err != nil {
		return err
	} else if perGPU > 0 {
		spec.CPUs = float64(spec.GPUs * perGPU)
	}
	if text := s["mem"]; text != "" {
		n, err := memory(text)
		if err != nil {
			return fmt.Errorf("--mem=%s, want memory like 64G", parse.Quote(text))
		}
		spec.Memory = n * int64(nodes)
	}
	return s.limit(spec)
}

func (s script) limit(spec *job.Spec) error {
	text := s["time"]
	if text == "" || strings.EqualFold(text, "UNLIMITED") || strings.EqualFold(text, "INFINITE") {
		return nil
	}
	seconds, err := clockOf(text)
	if err != nil {
		return err
	}
	spec.Timed, spec.Target = true, (time.Duration(seconds) * time.Second).Seconds()
	return nil
}

// clockOf parses a time limit, minutes or days-hours:minutes:seconds with parts left out, into seconds.
func clockOf(text string) (int64, error) {
	if n, err := strconv.ParseInt(text, 10, 32); err == nil {
		return minutes(n), nil
	}
	if days, hours, ok := strings.Cut(text, "-"); ok && !strings.Contains(hours, ":") {
		text = days + "-" + hours + ":00:00"
	} else if ok && strings.Count(hours, ":") == 1 {
		text += ":00"
	}
	seconds, want := parseClock(text)
	if want != "" {
		return 0, fmt.Errorf("--time=%s, want minutes, or %s", parse.Quote(text), want)
	}
	return seconds, nil
}

func (s script) tasks(nodes int) (int, error) {
	if s["ntasks-per-node"] != "" {
		n, err := s.number("ntasks-per-node", 1)
		return n * nodes, err
	}
	return s.number("ntasks", nodes)
}

func (s script) number(name string, unset int) (int, error) {
	text := s[name]
	if text == "" {
		return unset, nil
	}
	least, _, _ := strings.Cut(text, "-")
	n, err := count(least)
	if err != nil || n == 0 && name == "nodes" {
		return 0, fmt.Errorf("--%s=%s, want a whole number", name, parse.Quote(text))
	}
	return n, nil
}

// gpus returns the GPUs that the options request, and sets their types. Each option states the whole request, so
// the largest one counts.
func (s script) gpus(spec *job.Spec, nodes int) (int, error) {
	tasks, err := s.tasks(nodes)
	if err != nil {
		return 0, err
	}
	most := 0
	times := map[string]int{"gres": nodes, "gpus": 1, "gpus-per-node": nodes, "gpus-per-task": tasks}
	for _, option := range slices.Sorted(maps.Keys(times)) {
		text := s[option]
		if text == "" {
			continue
		}
		if option != "gres" {
			if !gpuCounts.MatchString(text) {
				return 0, fmt.Errorf("--%s=%s, want a number of GPUs, or one like a100:2", option, parse.Quote(text))
			}
			text = "gpu:" + strings.ReplaceAll(text, ",", ",gpu:")
		}
		l, want := parseGRES(text)
		switch {
		case want != "":
			return 0, fmt.Errorf("--%s=%s, want %s", option, parse.Quote(s[option]), want)
		case l.parts != "":
			return 0, fmt.Errorf("--%s=%s: parts of GPUs (%s) are not supported", option, parse.Quote(s[option]), l.parts)
		case l.gpus*times[option] > most:
			most, spec.GPUTypes = l.gpus*times[option], nil
			for _, t := range l.types {
				spec.GPUTypes = append(spec.GPUTypes, cluster.GPUType(strings.ToLower(t)))
			}
		}
	}
	return most, nil
}
