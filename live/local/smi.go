package local

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

const smiLimit = time.Minute

func smi() ([]gpu, error) {
	ctx, cancel := context.WithTimeout(context.Background(), smiLimit)
	defer cancel()
	path, err := exec.LookPath("nvidia-smi")
	if err != nil {
		return nil, nil
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, path, "--query-gpu=index,uuid,name,memory.total", "--format=csv,noheader,nounits")
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &stdout, &stderr, time.Second
	err = cmd.Run()
	output := strings.TrimSpace(stdout.String() + " " + stderr.String())
	if err != nil && (strings.Contains(output, "couldn't communicate with the NVIDIA driver") || strings.Contains(output, "No devices were found")) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("nvidia-smi: %w: %s", errors.Join(err, ctx.Err()), output)
	}
	if output == "No devices were found" {
		return nil, nil
	}
	return parseSMI(stdout.String())
}

func parseSMI(text string) ([]gpu, error) {
	r := csv.NewReader(strings.NewReader(text))
	r.TrimLeadingSpace, r.FieldsPerRecord = true, 4
	rows, err := r.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("nvidia-smi: %w", err)
	}
	var gpus []gpu
	for i, row := range rows {
		memory, err := bytesOf(row[3], 1<<20)
		if err != nil {
			return nil, fmt.Errorf("nvidia-smi: line %d: memory in MiB: %w", i+1, err)
		}
		if !strings.HasPrefix(row[1], "GPU-") {
			return nil, fmt.Errorf("nvidia-smi: line %d: UUID %q, want one that begins with GPU-", i+1, row[1])
		}
		gpus = append(gpus, gpu{row[1], row[2], memory})
	}
	return gpus, nil
}

func visible(gpus []gpu, lookup func(string) (string, bool)) ([]gpu, error) {
	list, set := lookup("CUDA_VISIBLE_DEVICES")
	if !set {
		return gpus, nil
	}
	var found []gpu
	for name := range strings.SplitSeq(list, ",") {
		i, err := find(gpus, strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		if i < 0 {
			break
		}
		if slices.Contains(found, gpus[i]) {
			return nil, fmt.Errorf("CUDA_VISIBLE_DEVICES: %s names a GPU twice", strings.TrimSpace(name))
		}
		found = append(found, gpus[i])
	}
	return found, nil
}

func find(gpus []gpu, name string) (int, error) {
	if strings.HasPrefix(name, "MIG-") {
		return 0, fmt.Errorf("CUDA_VISIBLE_DEVICES: %s is part of a GPU, want whole ones", name)
	}
	at := -1
	for i, g := range gpus {
		named := strings.HasPrefix(name, "GPU-") && strings.HasPrefix(g.uuid, name)
		if name != strconv.Itoa(i) && !named {
			continue
		}
		if at >= 0 {
			return 0, fmt.Errorf("CUDA_VISIBLE_DEVICES: %s names several GPUs, want one", name)
		}
		at = i
	}
	return at, nil
}
