package device

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

// smiLimit is how long nvidia-smi may take: it loads the driver where nothing
// else keeps it loaded, which takes seconds per GPU.
const smiLimit = time.Minute

// smi asks nvidia-smi for the GPUs; none where it is not installed or finds no
// driver to talk to.
func smi() ([]gpu, error) {
	ctx, cancel := context.WithTimeout(context.Background(), smiLimit)
	defer cancel()
	path, err := exec.LookPath("nvidia-smi")
	if err != nil {
		return nil, nil // without it, there is no GPU that it could show
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, path, "--query-gpu=index,uuid,name,memory.total", "--format=csv,noheader,nounits")
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &stdout, &stderr, time.Second
	err = cmd.Run()
	said := strings.TrimSpace(stdout.String() + " " + stderr.String())
	if err != nil && (strings.Contains(said, "couldn't communicate with the NVIDIA driver") || strings.Contains(said, "No devices were found")) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("nvidia-smi: %w: %s", errors.Join(err, ctx.Err()), said)
	}
	if said == "No devices were found" {
		return nil, nil
	}
	return parseSMI(stdout.String())
}

// parseSMI reads lines of "0, GPU-8f1c, NVIDIA H200, 143771": index, UUID, name
// and memory in MiB.
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

// visible leaves those GPUs that CUDA_VISIBLE_DEVICES of this process names, by
// index or UUID, in its order; all where it is not set. As CUDA does, it ends
// at the first that is not there.
func visible(gpus []gpu, lookup func(string) (string, bool)) ([]gpu, error) {
	list, set := lookup("CUDA_VISIBLE_DEVICES")
	if !set {
		return gpus, nil
	}
	var kept []gpu
	for name := range strings.SplitSeq(list, ",") {
		i, err := find(gpus, strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		if i < 0 {
			break
		}
		if slices.Contains(kept, gpus[i]) {
			return nil, fmt.Errorf("CUDA_VISIBLE_DEVICES: %s names a GPU for the second time, want each once", strings.TrimSpace(name))
		}
		kept = append(kept, gpus[i])
	}
	return kept, nil
}

// find returns the position of a GPU in the list, -1 if it is not there. Part of
// a UUID names a GPU if it names only one.
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
