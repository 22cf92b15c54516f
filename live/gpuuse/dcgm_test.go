package gpuuse

import (
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// exporterText is what a DCGM exporter 3.3 of Kubernetes serves: a GPU with a pod, one with two MIG slices, and one whose use is DCGM's blank value.
const exporterText = `# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).
# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a",pci_bus_id="00000000:07:00.0",device="nvidia0",modelName="NVIDIA A100-SXM4-80GB",Hostname="gpu-01",DCGM_FI_DRIVER_VERSION="550.90.07",container="train",namespace="research",pod="bert-0"} 93
DCGM_FI_DEV_GPU_UTIL{gpu="2",UUID="GPU-c",device="nvidia2",modelName="NVIDIA A100-SXM4-80GB",Hostname="gpu-01"} 9223372036854775794
# HELP DCGM_FI_DEV_FB_USED Framebuffer memory used (in MiB).
# TYPE DCGM_FI_DEV_FB_USED gauge
DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-a",device="nvidia0",Hostname="gpu-01",container="train",namespace="research",pod="bert-0"} 61234
DCGM_FI_DEV_FB_USED{gpu="1",UUID="GPU-b",device="nvidia1",GPU_I_PROFILE="3g.40gb",GPU_I_ID="1",Hostname="gpu-01"} 100
DCGM_FI_DEV_FB_USED{gpu="1",UUID="GPU-b",device="nvidia1",GPU_I_PROFILE="3g.40gb",GPU_I_ID="2",Hostname="gpu-01"} 200
# HELP DCGM_FI_DEV_FB_FREE Framebuffer memory free (in MiB).
# TYPE DCGM_FI_DEV_FB_FREE gauge
DCGM_FI_DEV_FB_FREE{gpu="0",UUID="GPU-a",device="nvidia0",Hostname="gpu-01",container="train",namespace="research",pod="bert-0"} 20325
DCGM_FI_DEV_FB_FREE{gpu="1",UUID="GPU-b",device="nvidia1",GPU_I_PROFILE="3g.40gb",GPU_I_ID="1",Hostname="gpu-01"} 900
DCGM_FI_DEV_FB_FREE{gpu="1",UUID="GPU-b",device="nvidia1",GPU_I_PROFILE="3g.40gb",GPU_I_ID="2",Hostname="gpu-01"} 800
# HELP DCGM_FI_PROF_GR_ENGINE_ACTIVE Ratio of time the graphics engine is active.
# TYPE DCGM_FI_PROF_GR_ENGINE_ACTIVE gauge
DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="1",UUID="GPU-b",device="nvidia1",GPU_I_PROFILE="3g.40gb",GPU_I_ID="1",Hostname="gpu-01"} 0.02
DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="1",UUID="GPU-b",device="nvidia1",GPU_I_PROFILE="3g.40gb",GPU_I_ID="2",Hostname="gpu-01"} 0.75
# HELP DCGM_FI_DEV_GPU_TEMP GPU temperature (in C).
# TYPE DCGM_FI_DEV_GPU_TEMP gauge
DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-a",device="nvidia0",Hostname="gpu-01",container="train",namespace="research",pod="bert-0"} 64
# HELP DCGM_FI_DEV_POWER_USAGE Power draw (in W).
# TYPE DCGM_FI_DEV_POWER_USAGE gauge
DCGM_FI_DEV_POWER_USAGE{gpu="0",UUID="GPU-a",device="nvidia0",Hostname="gpu-01",container="train",namespace="research",pod="bert-0"} 402.331
# HELP DCGM_FI_DEV_XID_ERRORS Value of the last XID error encountered.
# TYPE DCGM_FI_DEV_XID_ERRORS gauge
DCGM_FI_DEV_XID_ERRORS{gpu="7",device="nvidia7",Hostname="gpu-01"} 0
`

const prometheusText = `{"status":"success","data":{"resultType":"vector","result":[
{"metric":{"__name__":"DCGM_FI_DEV_GPU_UTIL","gpu":"0","UUID":"GPU-a","Hostname":"dcgm-exporter-x7k2p","node":"gpu-01","exported_namespace":"research","exported_pod":"bert-0","namespace":"gpu-operator","pod":"dcgm-exporter-x7k2p"},"value":[1732665600.1,"93"]},
{"metric":{"__name__":"DCGM_FI_DEV_FB_USED","gpu":"0","UUID":"GPU-a","node":"gpu-01"},"value":[1732665600.1,"61234"]},
{"metric":{"__name__":"DCGM_FI_DEV_GPU_TEMP","gpu":"0","UUID":"GPU-a","node":"gpu-01"},"value":[1732665600.1,"NaN"]}]}}`

// DCGM exporters and Prometheus give the same GPUs: with pods, MIG slices as one GPU, and nothing for blank values.
func TestRemote(t *testing.T) {
	answers := map[string]string{"/metrics": exporterText, "/api/v1/query": prometheusText}
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/metrics" && !strings.Contains(r.FormValue("query"), "GPU_UTIL") {
			t.Errorf("asked %s", r.URL)
		}
		_, _ = w.Write([]byte(answers[r.URL.Path]))
	}))
	defer h.Close()
	for address, want := range map[string]string{
		h.URL + "/metrics": "gpu-01 0 0.93 61234/81559 64 402 research/bert-0\ngpu-01 1 0.75 300/2000 NaN NaN \ngpu-01 2 NaN NaN/NaN NaN NaN \n",
		h.URL + "/":        "gpu-01 0 0.93 61234/61234 NaN NaN research/bert-0\n",
	} {
		read, err := Remote([]string{address, "http://127.0.0.1:1/metrics"})
		if err != nil {
			t.Fatal(err)
		}
		if all, err := read(t.Context()); err != nil || words(all) != want {
			t.Errorf("%s: %v\n%swant\n%s", address, err, words(all), want)
		}
	}
	answers["/metrics"] = "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\"" // cut off
	read, err := Remote([]string{h.URL + "/metrics"})
	if err != nil {
		t.Fatal(err)
	}
	if all, err := read(t.Context()); err == nil {
		t.Errorf("a text that ends early: %v", all)
	}
	for _, address := range []string{"gpu-01:9400", "file:///etc/passwd", ""} {
		if _, err := Remote([]string{address}); err == nil {
			t.Errorf("%q is accepted", address)
		}
	}
}

// FuzzExposition: whatever an exporter serves, values are possible ones.
func FuzzExposition(f *testing.F) {
	f.Add(exporterText)
	f.Fuzz(func(t *testing.T, text string) {
		points, _ := exposition(strings.NewReader(text))
		for _, s := range gather(points) {
			if s.Busy < 0 || s.Busy > 1 || s.Celsius > mostCelsius || s.Watts > mostWatts || math.IsInf(s.Used, 0) {
				t.Errorf("%+v", s)
			}
		}
	})
}
