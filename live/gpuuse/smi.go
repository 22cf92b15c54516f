package gpuuse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

const smiLimit = 10 * time.Second

// SMI is a Read of the GPUs of this machine with the program nvidia-smi.
func SMI(ctx context.Context) ([]Sample, error) {
	ctx, cancel := context.WithTimeout(ctx, smiLimit)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "nvidia-smi", "--query-gpu=index,uuid,utilization.gpu,memory.used,memory.total,temperature.gpu,power.draw", "--format=csv,noheader,nounits")
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &stdout, &stderr, time.Second
	err := cmd.Run()
	if all := parseSMI(stdout.String()); len(all) > 0 { // it fails if one of several GPUs is lost
		return all, nil
	}
	if err = errors.Join(err, ctx.Err()); err == nil {
		err = errors.New("no GPUs")
	}
	return nil, fmt.Errorf("nvidia-smi: %w: %s", err, strings.TrimSpace(stdout.String()+" "+stderr.String()))
}

// parseSMI skips lines that are not about a GPU, such as "Unable to determine the device handle for GPU".
func parseSMI(text string) []Sample {
	var all []Sample
	for line := range strings.Lines(text) {
		f := strings.Split(line, ",")
		if len(f) != 7 {
			continue
		}
		i, err := strconv.Atoi(strings.TrimSpace(f[0]))
		if err != nil || i < 0 {
			continue
		}
		s := Sample{Index: i, UUID: strings.TrimSpace(f[1]), Busy: number(f[2], 100, 1), Used: number(f[3], 1.0/(1<<20), mostBytes), Total: number(f[4], 1.0/(1<<20), mostBytes)}
		s.Celsius, s.Watts, s.Joules = number(f[5], 1, mostCelsius), number(f[6], 1, mostWatts), unmeasured().Joules
		all = append(all, s)
	}
	return sorted(all)
}
