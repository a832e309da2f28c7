package provider

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/docs-hosting/terraform-provider-docs/internal/bundle"
	"github.com/docs-hosting/terraform-provider-docs/internal/client"
	"github.com/docs-hosting/terraform-provider-docs/internal/simulator"
)

// addBundle adds a completed job whose bundle is a site of that many pages and two
// assets: index.html, quickstart.html, guides/hosting.html, and so on.
func (h *harness) addBundle(id string, pages int) {
	h.service.AddJob(simulator.JobSpec{ID: id, Queue: ended, Run: ended, Pages: pages})
}

// download returns a configuration that downloads a bundle to NAME/bundle, unless the arguments have another path.
func (c *cli) download(name, jobID, arguments string) string {
	if !strings.Contains(arguments, "path = ") {
		arguments += fmt.Sprintf("\n  path = %q", c.inFolder(name, "bundle"))
	}
	return fmt.Sprintf("resource \"docs_bundle_download\" %q {\n  job_id = %q\n  %s\n}\n", name, jobID, arguments)
}

// inFolder returns a name in the CLI's folder, which is not the provider's.
func (c *cli) inFolder(elements ...string) string {
	return filepath.ToSlash(filepath.Join(c.terraform.Folder, filepath.Join(elements...)))
}

// disk returns what is in a directory: contents of files.
func (c *cli) disk(t *testing.T, directory string) map[string]string {
	t.Helper()
	root, found := c.inFolder(directory), map[string]string{}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(root, name))
		found[name] = string(content)
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return found
}

// wantDisk checks everything that is in a directory.
func (c *cli) wantDisk(t *testing.T, directory string, want map[string]string) {
	t.Helper()
	if got := c.disk(t, directory); !reflect.DeepEqual(got, want) {
		t.Errorf("%s holds\n%.30q\nwant\n%.30q", directory, got, want)
	}
}

// change changes a directory of the folder by comma-separated steps: rm NAME, put NAME
// (a file), and copy NAME (another directory).
func (c *cli) change(t *testing.T, directory, steps string) {
	t.Helper()
	for step := range strings.SplitSeq(steps, ", ") {
		verb, name, _ := strings.Cut(step, " ")
		name = c.inFolder(directory, name)
		err := os.MkdirAll(filepath.Dir(name), 0o755)
		switch verb {
		case "rm":
			err = os.RemoveAll(name)
		case "put":
			err = cmp.Or(err, os.WriteFile(name, []byte("mine"), 0o600))
		case "copy":
			err = cmp.Or(os.RemoveAll(c.inFolder(directory)), os.CopyFS(c.inFolder(directory), os.DirFS(c.inFolder(filepath.Base(name)))))
		default:
			t.Fatalf("%q is not a step", step)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestDownloadReplacesItsOwnFilesOnly shows what is said and done in each phase. Package bundle tests what counts as the
// resource's own.
func TestDownloadReplacesItsOwnFilesOnly(t *testing.T) {
	t.Parallel()
	c := newHarness(t, simulator.Options{}).cli(t, "")
	c.addBundle("se_1", 2)
	c.addBundle("se_2", 3)
	apply := func(job string) {
		c.write(t, c.download("older", job, "unpack = true")+c.download("edited", job, "unpack = true"))
		c.apply(t, 0)
	}
	apply("se_1")
	c.change(t, "kept", "copy older")
	apply("se_2")
	site := c.disk(t, "older")
	edited := maps.Clone(site)
	edited["bundle/index.html"] = "mine"
	warned := func(summary string) string { return "warning: " + summary + ": " + c.inFolder("edited") + "/bundle" }

	c.change(t, "older", "copy kept")
	c.change(t, "edited", "put bundle/index.html")
	wantPhrases(t, c.terraform.Run(t, 0, "plan", "-refresh-only"), "No changes.")
	plan := c.report(t, 2, "plan", "-refresh=false", "-detailed-exitcode", "-out=saved")
	plan.wantNothingSaid(t, "older")
	plan.wantSaid(t, "edited", warned(summaryPathInUse)+" (path)\n")
	if want := map[string]string{"older": "update", "edited": "update"}; !maps.Equal(plan.planned, want) {
		t.Errorf("planned %v, want %v", plan.planned, want)
	}
	c.service.ResetRequests()
	applied := c.report(t, 1, "apply", "saved")
	applied.wantNothingSaid(t, "older")
	applied.wantSaid(t, "edited", "error: "+summaryPathInUse+" (path)\n")
	c.wantCounts(t, counts{bundle: 1, download: 1}) // none for what is foreign
	c.wantDisk(t, "older", site)
	c.wantDisk(t, "edited", edited)

	c.change(t, "edited", "rm .") // as the error says
	c.apply(t, 0)
	c.wantEmptyPlan(t)
	c.change(t, "older", "copy kept")
	c.change(t, "edited", "put bundle/index.html")
	said := c.report(t, 0, "destroy", "-auto-approve").said[""] // the warnings have no address
	if strings.Count(said, "warning: ") != 1 || !strings.Contains(said, warned(summaryNotDeleted)) {
		t.Errorf("the destroy says:\n%s", said)
	}
	c.wantDisk(t, "older", map[string]string{})
	c.wantDisk(t, "edited", edited)
}

func TestReplacementDeletesTheOldFilesFirst(t *testing.T) {
	t.Parallel()
	c := newHarness(t, simulator.Options{}).cli(t, "")
	c.addBundle("se_1", 2)
	write := func(path, unpack string) {
		c.write(t, c.download("moved", "se_1", fmt.Sprintf("path = %q", c.inFolder(path)))+c.download("unpacked", "se_1", unpack))
	}
	write("moved/bundle", "")
	c.apply(t, 0)
	write("moved/other", "unpack = true")
	plan := c.report(t, 0, "plan", "-out=saved")
	if want := map[string]string{"moved": "replace", "unpacked": "replace"}; !maps.Equal(plan.planned, want) {
		t.Errorf("planned %v, want %v", plan.planned, want)
	}
	plan.wantNothingSaid(t, "moved") // its own files are no warning
	plan.wantNothingSaid(t, "unpacked")
	c.terraform.Run(t, 0, "apply", "saved")
	if moved, unpacked := c.disk(t, "moved"), c.disk(t, "unpacked"); len(moved) != 1 || moved["other"] == "" || unpacked["bundle/index.html"] == "" {
		t.Errorf("on disk there is %.30q and %.30q", moved, unpacked)
	}
	c.wantEmptyPlan(t)

	// Whoever moves the files along with the path has to hear of it before the apply deletes anything.
	c.change(t, "taken", "copy moved")
	write("taken/other", "unpack = true")
	c.report(t, 0, "plan").wantSaid(t, "moved", "warning: "+summaryPathInUse+": "+c.inFolder("taken", "other")+" (path)\n")
}

// Terraform destroys the old resource after it has created the new one.
func TestReplacementThatCreatesFirst(t *testing.T) {
	t.Parallel()
	c := newDownload(t)
	before := c.disk(t, "site")
	c.write(t, c.download("site", "se_1", "lifecycle {\n    create_before_destroy = true\n  }"))
	c.change(t, "site", "rm .")
	c.apply(t, 0, "-replace="+siteBundle)
	c.wantDisk(t, "site", before)
	c.wantEmptyPlan(t)
}

// endsAtMove is a context that ends when an old directory has been moved aside.
type endsAtMove struct {
	context.Context
	folder string
}

func (c endsAtMove) Err() error {
	if old, _ := filepath.Glob(c.folder + "/.docs*/old"); old != nil {
		return context.Canceled
	}
	return nil
}

func TestUpdateSucceedsIfTheDeletionIsInterrupted(t *testing.T) {
	t.Parallel()
	h, folder := newHarness(t, simulator.Options{}), t.TempDir()
	c, err := client.New(client.Config{BaseURL: h.service.BaseURL, APIKey: simulator.DefaultAPIKey})
	run := downloadRun{data: &providerData{}, diags: new(diag.Diagnostics)}
	for _, id := range []string{"se_1", "se_2"} {
		h.addBundle(id, 2)
		run.plan = bundleDownloadModel{
			JobID: types.StringValue(id), Path: types.StringValue(folder + "/site"), Unpack: types.BoolValue(true),
			ContentSHA256: types.StringUnknown(),
		}
		found, failed := run.plan.target().Inspect(t.Context(), run.owned)
		if err = cmp.Or(err, failed, run.download(endsAtMove{t.Context(), folder}, c.Begin(), found)); err != nil {
			t.Fatal(err)
		}
	}
	wantPhrases(t, textOf(*run.diags), summaryNotDeleted+": "+folder, "The operation was interrupted.")
}

func TestMessagesOfADownload(t *testing.T) {
	t.Parallel()
	system := func(err error) error { return &fs.PathError{Op: "write", Path: "tmp", Err: err} }
	foreign, edited := &bundle.OccupiedError{Path: "site"}, &bundle.OccupiedError{Path: "site", Latest: "site/.DS_Store"}
	unreadable := &bundle.OccupiedError{Path: "site", Latest: "site", Err: system(syscall.EACCES)}
	downloads := map[string]error{
		"occupied":                 foreign,
		"occupied, in a directory": edited,
		"occupied, and unreadable": unreadable,
		"disk that fails":          system(syscall.EIO),
		"directory in use":         &os.LinkError{Op: "rename", Old: "site\n\x1b[2J\u202e", New: "tmp", Err: syscall.EBUSY},
		"lost connection":          &client.Error{Text: "the request to the object store store failed: EOF", Reason: client.ReasonStoreNoResponse},
		"missing bundle":           &client.Error{Text: "the service returned HTTP 404 Not Found for POST /b", Reason: client.ReasonNotFound},
		"other checksum":           &mismatchError{"sha256", "1f", "2f"},
		"other content":            &mismatchError{"job_id", "", "2f"},
		"archive with a long name": &bundle.ArchiveError{Fault: bundle.UnsafeName, Entry: strings.Repeat("x", 500)},
		"damaged archive":          &bundle.ArchiveError{Fault: bundle.Damaged, Err: io.ErrUnexpectedEOF},
	}
	for _, known := range diskAdvice {
		downloads["disk, "+known.err.Error()] = system(known.err)
	}
	for fault := range faults {
		refused := &bundle.ArchiveError{Fault: fault}
		if slices.Contains([]bundle.Fault{bundle.UnsafeName, bundle.Duplicate, bundle.SpecialFile, bundle.Unsupported}, fault) {
			refused.Entry = "caf\xe9"
		}
		downloads["archive, "+string(fault)] = refused
	}
	texts := map[string]string{}
	said := func(name string, report func(*diag.Diagnostics)) {
		var diags diag.Diagnostics
		report(&diags)
		texts[name] = textOf(diags)
	}
	for name, err := range downloads {
		said(name, func(diags *diag.Diagnostics) {
			reportDownload(diags, summaryDownloadFailed, "se_1", noFilesChanged, err)
		})
	}
	said("occupied, in a create", func(diags *diag.Diagnostics) {
		reportDownload(diags, summaryDownloadFailed, "se_1", "", foreign)
	})
	said("occupied, in a plan", func(diags *diag.Diagnostics) { warnPathInUse(diags, edited) })
	said("occupied, in a destroy", func(diags *diag.Diagnostics) { warnNotDeleted(diags, edited) })
	said("interrupted destroy", func(diags *diag.Diagnostics) {
		reportDownload(diags, summaryDeleteFailed, "se_1", noFilesChanged, context.Canceled)
	})
	for name, err := range map[string]error{
		"files that appeared meanwhile": system(syscall.ENOTEMPTY),
		"temporary files that are left": system(syscall.EACCES),
		"old files after an interrupt":  context.Canceled,
		"old files after a timeout":     &timeoutError{time.Hour, "update"},
	} {
		said(name, func(diags *diag.Diagnostics) { warnLeft(diags, &bundle.LeftError{Path: ".tmp", Err: err}) })
	}
	wantTexts(t, "download.txt", texts)
}

func TestWithoutPrivateStateTheDigestInTheStateCounts(t *testing.T) {
	t.Parallel()
	for _, private := range []memory{{}, {writtenKey: []byte(`{"written by": "another version"}`)}} {
		for unpack, want := range map[bool]string{false: "file", true: "tree"} {
			state := bundleDownloadModel{Unpack: types.BoolValue(unpack), SHA256: types.StringValue("file"), ContentSHA256: types.StringValue("tree")}
			var diags diag.Diagnostics
			if owned := readOwned(t.Context(), private, state, &diags); !reflect.DeepEqual(owned, bundle.Owned{want}) || len(diags) > 0 {
				t.Errorf("%v: got %v, want %s; said %v", private, owned, want, diags)
			}
		}
	}
}
