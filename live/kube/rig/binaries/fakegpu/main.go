// Command fakegpu is a device plugin that makes up GPUs: it tells the kubelet of a node that
// the node has some, and containers that are given some which ones, as NVIDIA's does.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	plugin "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// period is how often the plugin looks whether the kubelet was started again, and which
// devices are to be unhealthy.
const period = 100 * time.Millisecond

// socket is where the kubelet reaches the plugin, beside its own.
const socket = "fakegpu.sock"

func main() {
	dir := flag.String("dir", "/var/lib/kubelet/device-plugins", "where the kubelet's socket is")
	gpus := flag.Int("gpus", 8, "devices, 1 to 1000")
	sick := flag.String("unhealthy", "", "file that names the devices that are unhealthy, one word each; it may change")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if *gpus < 1 || *gpus > 1000 {
		fmt.Fprintf(os.Stderr, "error: %d devices, want 1 to 1000\n", *gpus)
		os.Exit(2)
	}
	if err := serve(ctx, *dir, &devices{count: *gpus, file: *sick}); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// serve answers the kubelet, and registers with it again whenever its socket is another:
// a kubelet that starts removes the sockets of plugins, and forgets them.
func serve(ctx context.Context, dir string, d *devices) error {
	var server *grpc.Server
	defer func() {
		if server != nil {
			server.Stop()
		}
	}()
	var known os.FileInfo
	for tick := time.NewTicker(period); ; {
		now, err := os.Stat(filepath.Join(dir, "kubelet.sock"))
		if err == nil && (known == nil || !os.SameFile(known, now) || !known.ModTime().Equal(now.ModTime())) {
			if server != nil {
				server.Stop()
			}
			if server, err = listen(dir, d); err != nil {
				return err
			}
			if err := register(ctx, dir); err == nil {
				known = now
				fmt.Println("registered")
			} else {
				fmt.Println(err) // it may not serve yet
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// listen starts a server on the plugin's socket.
func listen(dir string, d *devices) (*grpc.Server, error) {
	path := filepath.Join(dir, socket)
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	s := grpc.NewServer()
	plugin.RegisterDevicePluginServer(s, d)
	go func() { _ = s.Serve(l) }() // until it is stopped
	return s, nil
}

// register tells the kubelet of the plugin.
func register(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	c, err := grpc.NewClient("unix://"+filepath.Join(dir, "kubelet.sock"),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return fmt.Errorf("register: %w", err)
	}
	defer c.Close()
	_, err = plugin.NewRegistrationClient(c).Register(ctx, &plugin.RegisterRequest{
		Version: plugin.Version, Endpoint: socket, ResourceName: "nvidia.com/gpu",
	})
	if err != nil {
		return fmt.Errorf("register: %w", err)
	}
	return nil
}

// devices are GPU-0, GPU-1 and so on.
type devices struct {
	plugin.UnimplementedDevicePluginServer
	count int
	file  string // of those that are unhealthy; "": all are well
}

// GetDevicePluginOptions says that nothing is asked for beyond what must be.
func (d *devices) GetDevicePluginOptions(context.Context, *plugin.Empty) (*plugin.DevicePluginOptions, error) {
	return &plugin.DevicePluginOptions{}, nil
}

// ListAndWatch sends the devices, and again when one changed.
func (d *devices) ListAndWatch(_ *plugin.Empty, to grpc.ServerStreamingServer[plugin.ListAndWatchResponse]) error {
	last := "none was sent"
	for tick := time.NewTicker(period); ; {
		if sick := d.unhealthy(); sick != last {
			if err := to.Send(&plugin.ListAndWatchResponse{Devices: d.list(sick)}); err != nil {
				return err
			}
			last = sick
		}
		select {
		case <-tick.C:
		case <-to.Context().Done():
			return nil
		}
	}
}

// unhealthy returns the names in the file, between spaces; "" if there is none.
func (d *devices) unhealthy() string {
	data, err := os.ReadFile(d.file)
	if err != nil {
		return ""
	}
	return " " + strings.Join(strings.Fields(string(data)), " ") + " "
}

// list returns all devices, of which those named in sick are unhealthy.
func (d *devices) list(sick string) []*plugin.Device {
	var all []*plugin.Device
	for i := range d.count {
		one := &plugin.Device{ID: fmt.Sprintf("GPU-%d", i), Health: plugin.Healthy}
		if strings.Contains(sick, " "+one.ID+" ") {
			one.Health = plugin.Unhealthy
		}
		all = append(all, one)
	}
	return all
}

// Allocate tells containers which devices they were given.
func (d *devices) Allocate(_ context.Context, r *plugin.AllocateRequest) (*plugin.AllocateResponse, error) {
	answer := &plugin.AllocateResponse{}
	for _, c := range r.ContainerRequests {
		answer.ContainerResponses = append(answer.ContainerResponses, &plugin.ContainerAllocateResponse{
			Envs: map[string]string{"NVIDIA_VISIBLE_DEVICES": strings.Join(c.DevicesIds, ",")},
		})
	}
	return answer, nil
}
