package gpuuse

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// smiText is what nvidia-smi 550 prints for a busy GPU, an idle one, one in MIG mode, an old one without a power meter, and a lost one.
const smiText = `0, GPU-5ac35b46-3a01-bf0e-0c16-0f4a9ac5f0c1, 87, 61234, 81559, 64, 410.52
1, GPU-0b1f8c24-7d2e-11ee-8c99-0242ac120002, 0, 4, 81559, 29, 71.03
2, GPU-1c2f8c24-7d2e-11ee-8c99-0242ac120002, [N/A], 12345, 81559, 41, 78.10
3, GPU-2d3f8c24-7d2e-11ee-8c99-0242ac120002, 3, 11, 11441, 35, [N/A]
Unable to determine the device handle for GPU0000:5E:00.0: Unknown Error
5, GPU-3e4f8c24-7d2e-11ee-8c99-0242ac120002, [Unknown Error], [Unknown Error], [Unknown Error], [GPU is lost], [GPU is lost]
`

func words(all []Sample) string {
	var b strings.Builder
	for i := range all {
		s := &all[i]
		fmt.Fprintf(&b, "%s %d %.2f %.0f/%.0f %.0f %.0f %s\n", s.Node, s.Index, s.Busy, s.Used/mebibyte, s.Total/mebibyte, s.Celsius, s.Watts, s.Pod)
	}
	return b.String()
}

// Each GPU of nvidia-smi is measured as far as the driver reports it.
func TestParseSMI(t *testing.T) {
	const want = ` 0 0.87 61234/81559 64 411 
 1 0.00 4/81559 29 71 
 2 NaN 12345/81559 41 78 
 3 0.03 11/11441 35 NaN 
 5 NaN NaN/NaN NaN NaN 
`
	if got := words(parseSMI(smiText)); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for _, text := range []string{"", "No devices were found\n", "x, GPU-a, 1, 1, 1, 1, 1\n", "-1, GPU-a, 1, 1, 1, 1, 1\n"} {
		if all := parseSMI(text); len(all) > 0 {
			t.Errorf("%q: %v", text, all)
		}
	}
	if got := words(parseSMI("0, GPU-a, 101, -1, 1e99, 900, inf\n")); got != " 0 NaN NaN/NaN NaN NaN \n" {
		t.Errorf("impossible values: %s", got)
	}
}

// SMI runs the program: if one GPU is lost it exits with an error, and the others count. A program that hangs is killed.
func TestSMI(t *testing.T) {
	if testing.Short() {
		t.Skip("starts scripts")
	}
	dir := t.TempDir()
	t.Setenv("PATH", dir+":/bin:/usr/bin")
	for script, want := range map[string]string{
		"cat <<E\n" + smiText + "E\nexit 15\n": "5 GPUs",
		"echo NVIDIA-SMI has failed; exit 9\n": "exit status 9: NVIDIA-SMI has failed",
		"exit 0\n":                             "no GPUs",
		"exec sleep 60\n":                      "deadline exceeded",
	} {
		if err := os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte("#!/bin/sh\n"+script), 0o700); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		all, err := SMI(ctx)
		cancel()
		if got := fmt.Sprint(len(all), " GPUs ", err); !strings.Contains(got, want) {
			t.Errorf("%q: %s, want %s", script, got, want)
		}
	}
}
