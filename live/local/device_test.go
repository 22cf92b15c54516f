package local

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/model/cluster"
)

func TestTypeOf(t *testing.T) {
	for name, want := range map[string]cluster.GPUType{
		"NVIDIA H200":                    "h200",
		"NVIDIA A100-SXM4-80GB":          "a100",
		"NVIDIA A100 80GB PCIe":          "a100",
		"NVIDIA H100 80GB HBM3":          "h100",
		"NVIDIA H100 NVL":                "h100",
		"NVIDIA GH200 480GB":             "gh200",
		"NVIDIA B200":                    "b200",
		"Tesla T4":                       "t4",
		"Tesla V100-SXM2-16GB":           "v100",
		"Tesla P100-PCIE-16GB":           "p100",
		"Tesla K80":                      "k80",
		"Quadro RTX 6000":                "rtx6000",
		"NVIDIA RTX 6000 Ada Generation": "rtx6000adageneration",
		"NVIDIA GeForce RTX 4090":        "rtx4090",
		"NVIDIA GeForce GTX 1080 Ti":     "gtx1080ti",
		"NVIDIA L40S":                    "l40s",
		"NVIDIA L4":                      "l4",
		"NVIDIA A10G":                    "a10g",
		"NVIDIA Graphics Device":         "gpu",
		"":                               "gpu",
		"NVIDIA GeForce RTX 4090 Laptop GPU, 16GB": "rtx4090laptopgpu",
	} {
		if got := typeOf(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

const two = "0, GPU-aa1, NVIDIA H200, 143771\n1, GPU-ab2, NVIDIA H200, 143770\n"

func TestParseSMI(t *testing.T) {
	got, err := parseSMI(two)
	want := []gpu{{"GPU-aa1", "NVIDIA H200", 143771 << 20}, {"GPU-ab2", "NVIDIA H200", 143770 << 20}}
	if err != nil || !cmp.Equal(got, want, cmp.AllowUnexported(gpu{})) {
		t.Errorf("got %v %v, want %v", got, err, want)
	}
	for text, want := range map[string]string{
		"0, GPU-a, NVIDIA H200":               "wrong number of fields",
		"0, 7, NVIDIA H200, 12":               `line 1: UUID "7"`,
		"0, GPU-a, NVIDIA H200, [N/A]":        `line 1: memory in MiB: "[N/A]"`,
		"0, GPU-a, NVIDIA H200, -1":           "memory in MiB",
		"0, GPU-a, NVIDIA H200, 999999999999": "memory in MiB",
	} {
		if _, err := parseSMI(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

// FuzzParseSMI: whatever the program prints, no GPU has an impossible size.
func FuzzParseSMI(f *testing.F) {
	f.Add(two)
	f.Fuzz(func(t *testing.T, text string) {
		gpus, err := parseSMI(text)
		if err != nil && gpus != nil {
			t.Errorf("GPUs %v beside the error %v", gpus, err)
		}
		for _, g := range gpus {
			if g.memory < 0 || g.memory > 1<<50 || g.uuid == "" {
				t.Errorf("%q: %+v", text, g)
			}
		}
	})
}

func TestVisible(t *testing.T) {
	gpus, err := parseSMI(two)
	if err != nil {
		t.Fatal(err)
	}
	for list, want := range map[string]string{
		"0,1": "GPU-aa1 GPU-ab2", "1,0": "GPU-ab2 GPU-aa1", "1 ,7": "GPU-ab2", "GPU-ab": "GPU-ab2",
		"": "", "-1": "", "0,7,1": "GPU-aa1", "GPU-": "several GPUs", "MIG-1": "part of a GPU",
		"0,0": "names a GPU twice", "1,GPU-ab2": "names a GPU twice",
	} {
		kept, err := visible(gpus, func(string) (string, bool) { return list, true })
		var names []string
		for _, g := range kept {
			names = append(names, g.uuid)
		}
		if got := strings.Join(names, " "); err == nil && got != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q %v, want %q", list, got, err, want)
		}
	}
	if kept, err := visible(gpus, func(string) (string, bool) { return "", false }); err != nil || len(kept) != 2 {
		t.Errorf("not set: %v %v, want both", kept, err)
	}
}

func TestDivide(t *testing.T) {
	a, b := gpu{"GPU-a", "NVIDIA H200", 100}, gpu{"GPU-b", "NVIDIA H200", 90}
	tests := []struct {
		name  string
		gpus  []gpu
		slots int
		want  []slot
		node  cluster.Node
		err   string
	}{
		{"one per GPU", []gpu{a, b}, 0, []slot{{"GPU-a", false}, {"GPU-b", false}}, cluster.Node{GPUType: "h200", GPUMemory: 90}, ""},
		{"several on each", []gpu{a, b}, 4, []slot{{"GPU-a", true}, {"GPU-a", true}, {"GPU-b", true}, {"GPU-b", true}}, cluster.Node{GPUType: "h200", GPUMemory: 45}, ""},
		{"no GPUs", nil, 0, []slot{{}, {}}, cluster.Node{GPUType: CPU}, ""},
		{"no GPUs, three slots", nil, 3, []slot{{}, {}, {}}, cluster.Node{GPUType: CPU}, ""},
		{"no multiple", []gpu{a, b}, 3, nil, cluster.Node{}, "3 slots on 2 GPUs, want a multiple"},
		{"fewer", []gpu{a, b}, 1, nil, cluster.Node{}, "1 slots on 2 GPUs, want a multiple"},
		{"negative", nil, -1, nil, cluster.Node{}, "-1 slots, want at least 0"},
		{"two types", []gpu{a, {"GPU-c", "Tesla T4", 16}}, 0, nil, cluster.Node{}, "GPUs of types h200 and t4, want one type"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := Machine{Name: "here", CPUs: 2.5, Memory: 1000}
			err := m.divide(tt.gpus, tt.slots)
			if err != nil || tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want %q", err, tt.err)
				}
				return
			}
			if diff := cmp.Diff(tt.want, m.Slots); diff != "" {
				t.Errorf("slots (-want +got):\n%s", diff)
			}
			tt.node.ID, tt.node.Capacity = "here", cluster.Resources{GPUs: len(tt.want), CPUs: 2.5, Memory: 1000}
			if diff := cmp.Diff(tt.node, m.Node()); diff != "" {
				t.Errorf("node (-want +got):\n%s", diff)
			}
			if _, err := cluster.New([]cluster.Node{m.Node()}); err != nil {
				t.Errorf("it makes no cluster: %v", err)
			}
		})
	}
}

// TestFind runs the whole of it, with a program of our own for nvidia-smi.
func TestFind(t *testing.T) {
	if testing.Short() {
		t.Skip("starts scripts")
	}
	if runtime.GOOS != "linux" {
		t.Skip("a shell script stands for the driver's program")
	}
	tests := []struct {
		name, script string
		slots        int
		want         cluster.GPUType
		err          string
	}{
		{"GPUs", "echo '0, GPU-aa1, NVIDIA H200, 143771'", 2, "h200", ""},
		{"no program", "", 2, CPU, ""},
		{"no driver", "echo \"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\"; exit 9", 2, CPU, ""},
		{"no devices", "echo 'No devices were found'", 2, CPU, ""},
		{"broken", "echo 'Unable to determine the device handle' >&2; exit 15", 2, "", "exit status 15: Unable to determine"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if tt.script != "" {
				if err := os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte("#!/bin/sh\n"+tt.script+"\n"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("PATH", dir)
			t.Setenv("CUDA_VISIBLE_DEVICES", "0")
			m, err := FindMachine(tt.slots)
			if err != nil || tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want %q", err, tt.err)
				}
				return
			}
			if m.Type != tt.want || len(m.Slots) != 2 || m.Name == "" || m.CPUs <= 0 || m.Memory <= 0 {
				t.Errorf("got %+v, want 2 slots of %s", m, tt.want)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	tests := []struct {
		name   string
		files  map[string]string
		memory int64
		cores  float64
		err    string
	}{
		{"none", nil, math.MaxInt64, math.Inf(1), ""},
		{"version 2", map[string]string{"memory.max": "4096\n", "cpu.max": "150000 100000\n"}, 4096, 1.5, ""},
		{"version 2, no limit", map[string]string{"memory.max": "max\n", "cpu.max": "max 100000\n"}, math.MaxInt64, math.Inf(1), ""},
		{"version 1", map[string]string{"memory.limit_in_bytes": "8192\n", "cpu.cfs_quota_us": "50000\n", "cpu.cfs_period_us": "100000\n"}, 8192, 0.5, ""},
		{"version 1, no limit", map[string]string{"memory.limit_in_bytes": "9223372036854771712\n", "cpu.cfs_quota_us": "-1\n", "cpu.cfs_period_us": "100000\n"}, 9223372036854771712, math.Inf(1), ""},
		{"no number", map[string]string{"memory.max": "many\n"}, 0, 0, `memory.max: "many"`},
		{"no words", map[string]string{"memory.max": ""}, 0, 0, "memory.max: 0 words, want 1"},
		{"no period", map[string]string{"cpu.max": "1000 0\n"}, math.MaxInt64, 0, "want quota and period in microseconds"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range tt.files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			memory, err := limitOf(dir)
			quota, err2 := quotaOf(dir)
			if err == nil {
				err = err2
			}
			if err != nil || tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want %q", err, tt.err)
				}
				return
			}
			if memory != tt.memory || quota != tt.cores {
				t.Errorf("%d bytes and %g cores, want %d and %g", memory, quota, tt.memory, tt.cores)
			}
		})
	}
}

func TestGroups(t *testing.T) {
	got := groupsIn("4:memory:/a/b\n3:cpu,cpuacct:/c\n1:name=systemd:/d\nnonsense\n0::/e\n", "/m", "cpu")
	if diff := cmp.Diff([]string{"/m/cpu/c", "/m/cpu", "/m/e", "/m"}, got); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
}

func TestTotal(t *testing.T) {
	if n, err := totalIn("MemFree: 1 kB\nMemTotal:  24684068 kB\n"); err != nil || n != 24684068<<10 {
		t.Errorf("got %d %v", n, err)
	}
	for _, bad := range []string{"", "MemTotal: x kB\n", "MemTotal: 0 kB\n", "MemTotal: -5 kB\n", "MemTotal: 99999999999999999 kB\n"} {
		if n, err := totalIn(bad); err == nil {
			t.Errorf("%q: %d, want an error", bad, n)
		}
	}
}
