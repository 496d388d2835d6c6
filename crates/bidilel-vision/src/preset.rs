//! What the usual networks were trained with.

use crate::preprocess::{Channels, Crops, Fit, Layout, Preprocess, Range, Size};
use crate::resample::Filter;

/// A family of networks with one preprocessing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preset {
    /// ImageNet networks of torchvision: shorter side 256, center 224.
    Torchvision,
    /// EfficientNet-Lite: `(x - 127) / 128`, bicubic, the shorter side 32 above the input.
    EfficientnetLite,
    /// VGG of the Caffe model zoo: blue first, the mean color subtracted (Simonyan and Zisserman, 2015).
    CaffeVgg19,
    /// GoogLeNet of the Caffe model zoo: stretched to 256 x 256, blue first, mean 104, 117, 123.
    CaffeGooglenet,
    /// CLIP: bicubic, shorter side and center 224.
    Clip,
    /// DINOv2: bicubic, shorter side 256, center 224.
    Dinov2,
    /// C3D on frames of 171 x 128, center 112, blue first, the mean color of Sports-1M subtracted (Tran et al., 2015).
    C3d,
}

impl Preset {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Torchvision,
        Self::EfficientnetLite,
        Self::CaffeVgg19,
        Self::CaffeGooglenet,
        Self::Clip,
        Self::Dinov2,
        Self::C3d,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Torchvision => "torchvision",
            Self::EfficientnetLite => "efficientnet-lite",
            Self::CaffeVgg19 => "caffe-vgg19",
            Self::CaffeGooglenet => "caffe-googlenet",
            Self::Clip => "clip",
            Self::Dinov2 => "dinov2",
            Self::C3d => "c3d",
        }
    }

    /// Its settings, for a network whose input has a size of its own if `size` is given.
    pub fn settings(self, size: Option<Size>) -> Preprocess {
        const IMAGENET: ([f32; 3], [f32; 3]) = ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]);
        let usual = if self == Self::C3d { 112 } else { 224 };
        let size = size.unwrap_or(Size::square(usual));
        let short = size.width.min(size.height);
        // The share that is cut off stays the same for other sizes: 256 to 224.
        let wider = |side: u32| (side * 256 + 112) / 224;
        let resize = match self {
            Self::EfficientnetLite => {
                let side = |side: u32| side * (short + 32) / short;
                Size { width: side(size.width), height: side(size.height) }
            }
            Self::Clip => size,
            Self::C3d => Size { width: size.width * 171 / 112, height: size.height * 128 / 112 },
            _ => Size { width: wider(size.width), height: wider(size.height) },
        };
        let base = Preprocess {
            size,
            resize,
            fit: Fit::Crop,
            filter: Filter::Bilinear,
            crops: Crops::Center,
            range: Range::One,
            mean: IMAGENET.0,
            std: IMAGENET.1,
            layout: Layout::Nchw,
            channels: Channels::Rgb,
            background: [255; 3],
        };
        let caffe = |mean| Preprocess {
            range: Range::Bytes,
            mean,
            std: [1.0; 3],
            channels: Channels::Bgr,
            ..base.clone()
        };
        match self {
            Self::Torchvision => base,
            Self::EfficientnetLite => Preprocess {
                filter: Filter::Bicubic,
                range: Range::Bytes,
                mean: [127.0; 3],
                std: [128.0; 3],
                ..base
            },
            Self::CaffeVgg19 => caffe([103.939, 116.779, 123.68]),
            Self::CaffeGooglenet => Preprocess { fit: Fit::Stretch, ..caffe([104.0, 117.0, 123.0]) },
            Self::Clip => Preprocess {
                filter: Filter::Bicubic,
                mean: [0.481_454_67, 0.457_827_5, 0.408_210_73],
                std: [0.268_629_54, 0.261_302_6, 0.275_777_1],
                ..base
            },
            Self::Dinov2 => Preprocess { filter: Filter::Bicubic, ..base },
            Self::C3d => Preprocess { fit: Fit::Stretch, ..caffe([90.0, 98.0, 102.0]) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_what_they_say() {
        for preset in Preset::ALL {
            let settings = preset.settings(None);
            assert_eq!(settings.check(), Ok(()), "{}", preset.name());
            let other = preset.settings(Some(Size::square(300)));
            assert_eq!((other.size, other.check()), (Size::square(300), Ok(())));
        }
        assert_eq!(Preset::Torchvision.settings(None).resize, Size::square(256));
        assert_eq!(Preset::EfficientnetLite.settings(None).resize, Size::square(256));
        assert_eq!(Preset::EfficientnetLite.settings(Some(Size::square(240))).resize, Size::square(272));
        assert_eq!(Preset::C3d.settings(None).resize, Size { width: 171, height: 128 });
        let lite = Preset::EfficientnetLite.settings(None).table();
        assert_eq!((lite[0][127], lite[2][255]), (0.0, 1.0));
        // torchvision: ToTensor, then Normalize, in single precision.
        let table = Preset::Torchvision.settings(None).table();
        assert_eq!(table[1][200].to_bits(), (((200.0_f32 / 255.0) - 0.456) / 0.224).to_bits());
    }
}
