package slurm

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/simulate/trace/parse"
)

// ConfigCommand is the command that prints the configuration of Slurm, for ReadSettings.
const ConfigCommand = "scontrol show config"

// Settings are Slurm's settings for priorities and backfilling, with Slurm's defaults for missing ones.
type Settings struct {
	Age        float64       // PriorityWeightAge
	MaxAge     time.Duration // PriorityMaxAge
	Calculated time.Duration // PriorityCalcPeriod
	Interval   time.Duration // bf_interval
	Horizon    time.Duration // bf_window
	Tests      int           // bf_max_job_test; 0: no backfilling
	Depth      int           // default_queue_depth
	// Unlike lists settings that a replay does not reproduce.
	Unlike []string
}

func defaultSettings() Settings {
	return Settings{MaxAge: 7 * 24 * time.Hour, Calculated: 5 * time.Minute, Interval: 30 * time.Second, Horizon: 24 * time.Hour, Tests: 500, Depth: 100}
}

// ReadSettings reads the output of scontrol show config, or a slurm.conf without includes. file names the input in
// errors of type *parse.Error.
func ReadSettings(r io.Reader, file string) (*Settings, error) {
	s := defaultSettings()
	lines, known := bufio.NewScanner(r), 0
	for number := 1; lines.Scan(); number++ {
		key, value, ok := strings.Cut(lines.Text(), "=")
		if !ok {
			continue
		}
		used, err := s.set(strings.ToLower(strings.TrimSpace(key)), strings.TrimSpace(value))
		if err != nil {
			return nil, &parse.Error{File: file, Line: number, Problem: err.Error()}
		}
		if used {
			known++
		}
	}
	if err := lines.Err(); err != nil {
		return nil, &parse.Error{File: file, Problem: err.Error()}
	}
	if known == 0 {
		return nil, &parse.Error{File: file, Problem: "no settings of Slurm, want what this prints: " + ConfigCommand}
	}
	return &s, nil
}

func (s *Settings) set(key, value string) (used bool, err error) {
	switch key {
	case "priorityweightage":
		s.Age, err = strconv.ParseFloat(value, 64)
	case "prioritymaxage":
		s.MaxAge, err = span(value)
	case "prioritycalcperiod":
		s.Calculated, err = span(value)
	case "schedulertype":
		if value == "sched/builtin" {
			s.Tests = 0
		}
	case "prioritytype":
		if value == "priority/basic" {
			s.Age = 0
		}
	case "preemptmode":
		if value != "OFF" && value != "off" {
			s.Unlike = append(s.Unlike, "PreemptMode="+value+": preemption is not replayed")
		}
	case "schedulerparameters":
		err = s.parameters(value)
	default:
		return false, nil
	}
	if err != nil {
		return true, fmt.Errorf("%s=%s: %w", key, value, err)
	}
	return true, nil
}

func (s *Settings) parameters(list string) error {
	for one := range strings.SplitSeq(list, ",") {
		key, value, _ := strings.Cut(one, "=")
		var n int
		var err error
		switch key {
		case "bf_interval", "bf_window", "bf_max_job_test", "default_queue_depth":
			if n, err = strconv.Atoi(value); err != nil || n < 0 {
				return fmt.Errorf("%s, want a whole number", one)
			}
		case "defer", "bf_max_job_user", "bf_max_job_part", "bf_max_job_assoc", "bf_min_age_reserve", "bf_min_prio_reserve", "bf_one_resv_per_job", "bf_continue":
			if key != "bf_continue" {
				s.Unlike = append(s.Unlike, "SchedulerParameters="+one+": not replayed")
			}
			continue
		}
		switch key {
		case "bf_interval":
			s.Interval = time.Duration(n) * time.Second
		case "bf_window":
			s.Horizon = time.Duration(n) * time.Minute
		case "bf_max_job_test":
			s.Tests = n
		case "default_queue_depth":
			s.Depth = n
		}
	}
	return nil
}

func span(text string) (time.Duration, error) {
	days, rest, ok := strings.Cut(text, "-")
	if !ok {
		days, rest = "0", text
	}
	d, err := strconv.Atoi(days)
	total := time.Duration(d) * 24 * time.Hour
	parts := strings.Split(rest, ":")
	units := []time.Duration{time.Hour, time.Minute, time.Second}
	if len(parts) == 1 && !ok {
		units = []time.Duration{time.Minute}
	}
	if len(parts) > len(units) {
		return 0, fmt.Errorf("%q, want a time like 7-00:00:00", text)
	}
	for i, p := range parts {
		n, bad := strconv.Atoi(p)
		if err != nil || bad != nil || n < 0 || d < 0 {
			return 0, fmt.Errorf("%q, want a time like 7-00:00:00", text)
		}
		total += time.Duration(n) * units[i]
	}
	return total, nil
}
